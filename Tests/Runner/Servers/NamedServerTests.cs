using Kit.Endpoints.Cells;
using Kit.Modes;
using Kit.Runner.Results;
using Kit.Runner.Servers;
using Kit.Runner.Stage.Transports;
using Npgsql;

namespace Kit.Tests.Servers;

/// <summary>A server that the user names, and what can be wrong with it.</summary>
[Parallelizable]
public sealed class NamedServerTests
{
    private const string Secret = "wrong-and-secret";

    private TemporaryFolder parent = null!;
    private PrivatePostgreSql server = null!;

    [OneTimeSetUp]
    public async Task StartServer()
    {
        PostgreSqlServer.IgnoreWithoutPrograms();
        parent = new TemporaryFolder();
        server = await PrivatePostgreSql.StartAsync(parent.Path, CancellationToken.None);
        await ExecuteAsync("ALTER SYSTEM SET max_prepared_transactions = 0");
        await ExecuteAsync("ALTER SYSTEM SET track_commit_timestamp = off");
        await ExecuteAsync("ALTER SYSTEM SET fsync = off");
        await ExecuteAsync($"CREATE ROLE guest LOGIN PASSWORD '{Secret}'");
        await server.RestartAsync(CancellationToken.None);
    }

    [OneTimeTearDown]
    public async Task StopServer()
    {
        if (server is not null)
            await server.DisposeAsync();
        parent?.Dispose();
    }

    [Test]
    public async Task A_wrong_password_is_said_and_not_shown()
    {
        var failure = await FailureAsync(With(settings => settings.Password = Secret));

        Assert.That(failure.Message, Does.StartWith("Wrong password: kit at 127.0.0.1:"));
    }

    [Test]
    public async Task An_unknown_database_is_said()
    {
        var failure = await FailureAsync(With(settings => settings.Database = "nowhere"));

        Assert.That(failure.Message, Does.StartWith("The server has no such database: ").And.EndsWith("/nowhere."));
    }

    [Test]
    public async Task A_server_out_of_reach_is_said()
    {
        var failure = await FailureAsync($"Host=127.0.0.1;Port=1;Username=kit;Password={Secret};Database=postgres");

        Assert.That(failure.Message, Does.StartWith("The PostgreSQL server is out of reach: kit at 127.0.0.1:"));
    }

    [Test]
    public async Task A_host_that_does_not_exist_is_said()
    {
        var failure = await FailureAsync($"Host=no-such-host.invalid;Username=kit;Password={Secret}");

        Assert.That(failure.Message, Does.StartWith("The PostgreSQL server is out of reach: kit at no-such-host.invalid:5432/kit"));
    }

    [TestCase("Host=h;Password=ab;wrong-and-secret")]
    [TestCase("Host=h;Password=ab;wrong-and-secret=c")]
    [TestCase("Host=h;Port=wrong-and-secret")]
    [TestCase("Username=kit")]
    public async Task An_unreadable_connection_string_is_not_repeated(string connectionString)
    {
        var failure = await FailureAsync(connectionString);

        Assert.That(failure.Message, Is.EqualTo("The PostgreSQL connection string cannot be read."));
    }

    [Test]
    public async Task No_prepared_transactions_are_fatal_to_full_dtc()
    {
        var lack = await LackAsync(server.ConnectionString, TransactionMode.FullDtc);

        Assert.Multiple(() =>
        {
            Assert.That(lack.Problem, Is.EqualTo("full-dtc prepares transactions, and the server forbids it: max_prepared_transactions is 0."));
            Assert.That(lack.Remedy, Does.Contain("ALTER SYSTEM SET max_prepared_transactions = 100; then restart the server."));
        });
    }

    [Test]
    public async Task No_prepared_transactions_do_not_hinder_the_other_modes()
    {
        var facts = await PostgreSqlFacts.ReadAsync(server.ConnectionString, CancellationToken.None);
        var problems = facts.Findings(twoPhaseWanted: false).Where(finding => finding.Problem is not null).ToList();

        Assert.Multiple(() =>
        {
            Assert.That(
                problems.Select(finding => finding.Name), Is.EqualTo(["max_prepared_transactions", "track_commit_timestamp", "durability"]));
            Assert.That(problems.Where(finding => finding.IsFatal), Is.Empty);
        });
    }

    [Test]
    public async Task A_user_that_may_not_create_databases_is_refused()
    {
        var lack = await LackAsync(
            With(settings =>
            {
                settings.Username = "guest";
                settings.Password = Secret;
            }),
            TransactionMode.DtcOff);

        Assert.That(lack.Problem, Does.StartWith("The kit creates databases of its own, and guest at 127.0.0.1:"));
    }

    private string With(Action<NpgsqlConnectionStringBuilder> change)
    {
        var settings = new NpgsqlConnectionStringBuilder(server.ConnectionString);
        change(settings);
        return settings.ConnectionString;
    }

    private static Cell CellIn(TransactionMode mode) => Cell.All.First(cell => cell is { Kind: BareOnPostgreSql, IsPlain: true } && cell.Mode == mode);

    /// <summary>The one thing that the server lacks for a mode.</summary>
    private async Task<Lack> LackAsync(string connectionString, TransactionMode mode)
    {
        var arguments = TransportArguments.None.With(PostgreSqlTransport.ServerSetting, connectionString);
        var lack = (await Transport.Named(TransportName.PostgreSql).CheckAsync(arguments, CancellationToken.None))
            .Single(lack => lack.Concerns(CellIn(mode)));
        RequireNoSecret(lack.Because);
        return lack;
    }

    private async Task<KitException> FailureAsync(string connectionString)
    {
        KitException? failure = null;
        try
        {
            await PostgreSqlFacts.ReadAsync(connectionString, CancellationToken.None);
        }
        catch (KitException thrown)
        {
            failure = thrown;
        }

        Assert.That(failure, Is.Not.Null);
        RequireNoSecret(failure!.ToString() + failure.Remedy);
        return failure;
    }

    private void RequireNoSecret(string said)
    {
        var own = new NpgsqlConnectionStringBuilder(server.ConnectionString).Password!;
        Assert.That(said, Does.Not.Contain(Secret).And.Not.Contain(own));
    }

    private async Task ExecuteAsync(string statement)
    {
        await using var connection = new NpgsqlConnection(server.ConnectionString + ";Pooling=false");
        await connection.OpenAsync();
        await using var command = new NpgsqlCommand(statement, connection);
        await command.ExecuteNonQueryAsync();
    }
}
