using Kit.Endpoints.Bare.PostgreSql.TwoPhase;
using Kit.Runner.Servers;
using Npgsql;

namespace Kit.Tests.TwoPhase;

/// <summary>
/// A role that owns a database sets it up against the superuser who will end its prepared transactions: strings in which a backslash escapes, operators of
/// its own before the server's, and an id that ends the statement and begins another.
/// </summary>
[Parallelizable]
public sealed class HostileDatabase
{
    private readonly string role = $"hostile_{Guid.NewGuid():N}";
    private string server = "";
    private string owned = "";

    // Under standard_conforming_strings = off, doubled quotes alone make of it: '\'', and what follows.
    private string GlobalId => $"\\'; ALTER ROLE {role} SUPERUSER; --";

    [SetUp]
    public async Task SetUp()
    {
        server = (await PostgreSqlServer.GetAsync()).ConnectionString;
        owned = new NpgsqlConnectionStringBuilder(server) { Database = role, Username = role, Password = "secret", Pooling = false }.ConnectionString;
        await TestDatabases.ExecuteAsync(server, $"CREATE ROLE {role} LOGIN PASSWORD 'secret'");
        await TestDatabases.ExecuteAsync(server, $"CREATE DATABASE {role} OWNER {role}");
        await TestDatabases.ExecuteAsync(
            owned,
            $"""
            CREATE SCHEMA evil;
            CREATE FUNCTION evil.rise("char", "char") RETURNS boolean LANGUAGE plpgsql AS $$
            BEGIN
                IF (SELECT rolsuper FROM pg_roles WHERE rolname OPERATOR(pg_catalog.=) current_user) THEN ALTER ROLE {role} SUPERUSER; END IF;
                RETURN $1 OPERATOR(pg_catalog.=) $2;
            END $$;
            CREATE OPERATOR evil.= (FUNCTION = evil.rise, LEFTARG = "char", RIGHTARG = "char");
            CREATE TABLE evil.held (id int);
            ALTER DATABASE {role} SET search_path TO evil, pg_catalog;
            ALTER DATABASE {role} SET standard_conforming_strings TO off
            """);
        foreach (var id in new[] { GlobalId, "'" })
        {
            var escaped = id.Replace("\\", "\\\\", StringComparison.Ordinal).Replace("'", "\\'", StringComparison.Ordinal);
            await TestDatabases.ExecuteAsync(owned, $"BEGIN; LOCK evil.held IN ROW SHARE MODE; PREPARE TRANSACTION E'{escaped}'");
        }
    }

    [TearDown]
    public async Task TearDown()
    {
        await DatabaseOwner.DropAsync(server, role, CancellationToken.None);
        await TestDatabases.ExecuteAsync(server, $"DROP ROLE {role}");
    }

    [Test]
    public async Task The_superuser_ends_the_transaction_of_that_id_and_does_nothing_else()
    {
        var all = new PreparedTransactions(server);
        var found = (await all.ReadAsync(CancellationToken.None)).Single(one => one.GlobalId == GlobalId);
        Assert.That(found.LockedTables, Is.EqualTo(new[] { "evil.held" }));

        await all.EndAsync(GlobalId, BranchDecision.Committed, CancellationToken.None);

        Assert.That(await IsSuperuserAsync(), Is.Zero);
        Assert.That(await CountAsync(), Is.EqualTo(1), "the other");
    }

    [Test]
    public async Task The_kit_that_drops_the_database_does_nothing_else()
    {
        await DatabaseOwner.DropAsync(server, role, CancellationToken.None);

        Assert.That(await IsSuperuserAsync(), Is.Zero);
        Assert.That(await CountAsync(), Is.Zero);
    }

    private Task<int> IsSuperuserAsync() => TestDatabases.ScalarAsync(server, $"SELECT rolsuper::int FROM pg_roles WHERE rolname = '{role}'");

    private Task<int> CountAsync() => TestDatabases.ScalarAsync(server, $"SELECT count(*)::int FROM pg_prepared_xacts WHERE database = '{role}'");
}
