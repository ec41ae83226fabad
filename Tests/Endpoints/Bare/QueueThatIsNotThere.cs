using Kit.Endpoints.Bare;
using Kit.Endpoints.Bare.PostgreSql;
using Kit.Modes;
using Npgsql;

namespace Kit.Tests.Bare;

/// <summary>An endpoint that starts before anybody has made its queue.</summary>
[Parallelizable]
public sealed class QueueThatIsNotThere
{
    private BareBench bench = null!;

    [SetUp]
    public async Task SetUp()
    {
        bench = await BareBench.CreateAsync();
        await TestDatabases.ExecuteAsync(bench.Databases.Queue, "CREATE TABLE queued (LIKE work INCLUDING ALL); DROP TABLE work, work_error");
    }

    [TearDown]
    public async Task TearDown() => await bench.DisposeAsync();

    [TestCase("")]
    [TestCase("CREATE TABLE work (LIKE queued INCLUDING ALL)")]
    public async Task What_is_missing_is_created(string there)
    {
        await TestDatabases.ExecuteAsync(bench.Databases.Queue, $"{there}; DROP TABLE queued");

        await bench.RestartAsync(TransactionMode.DtcOff);

        Assert.That(await bench.HandleAsync(TransactionMode.DtcOff, (_, _) => Task.CompletedTask), Is.Empty);
    }

    [TestCase("CREATE TABLE work (id int, total int)")]
    [TestCase("CREATE VIEW work AS SELECT 1 AS position")]
    [TestCase("CREATE TABLE work (LIKE queued INCLUDING ALL); CREATE TABLE child () INHERITS (work)")]
    [TestCase("CREATE TABLE work (LIKE queued) PARTITION BY HASH (position)")]
    public async Task What_is_there_under_its_name_and_is_no_queue_is_left_alone(string other)
    {
        await TestDatabases.ExecuteAsync(bench.Databases.Queue, other);

        Assert.That(
            await bench.RefusalOfAsync(TransactionMode.DtcOff),
            Does.Contain("\"work\" exists and is not a queue of the kit").And.Not.Contain("ALTER"));
    }

    [Test]
    public async Task An_archive_can_inherit_from_the_error_table()
    {
        await bench.RestartAsync(TransactionMode.DtcOff);
        await TestDatabases.ExecuteAsync(bench.Databases.Queue, "CREATE TABLE archive () INHERITS (work_error)");

        await bench.RestartAsync(TransactionMode.DtcOff);

        Assert.That(await bench.HandleAsync(TransactionMode.DtcOff, (_, _) => Task.CompletedTask), Is.Empty);
    }

    [TestCase("work")]
    [TestCase("work_error")]
    public async Task An_unlogged_table_is_refused(string table)
    {
        await bench.RestartAsync(TransactionMode.DtcOff);
        await TestDatabases.ExecuteAsync(bench.Databases.Queue, $"ALTER TABLE {table} SET UNLOGGED");

        Assert.That(await bench.RefusalOfAsync(TransactionMode.DtcOff), Does.Contain("is unlogged").And.EndWith("SET LOGGED"));
    }

    [Test]
    public async Task The_queue_of_another_endpoint_is_no_error_table()
    {
        await TestDatabases.ExecuteAsync(bench.Databases.Queue, "CREATE TABLE work_error (LIKE queued INCLUDING ALL)");

        Assert.That(
            await bench.RefusalOfAsync(TransactionMode.DtcOff),
            Does.Contain("\"work_error\", its error table, is another endpoint's queue").And.Contain("another name"));
    }

    [Test]
    public async Task The_error_table_of_another_endpoint_is_no_queue()
    {
        await TestDatabases.ExecuteAsync(
            bench.Databases.Queue, "CREATE TABLE work (LIKE queued); ALTER TABLE work DROP COLUMN not_before, ADD COLUMN reason text NOT NULL");

        Assert.That(
            await bench.RefusalOfAsync(TransactionMode.DtcOff),
            Does.Contain("\"work\" is another endpoint's error table").And.Contain("another name").And.Not.Contain("ALTER"));
    }

    [Test]
    public async Task Of_several_that_start_at_the_same_time_one_creates_it()
    {
        var hosts = Enumerable.Range(0, 8).Select(_ => bench.Build(TransactionMode.DtcOff, (_, _) => Task.CompletedTask)).ToList();

        await Assert.ThatAsync(() => Task.WhenAll(hosts.Select(host => host.StartAsync())), Throws.Nothing);
        Assert.That(await TestDatabases.ScalarAsync(bench.Databases.Queue, "SELECT count(*)::int FROM pg_class WHERE relname = 'work'"), Is.EqualTo(1));

        foreach (var host in hosts)
        {
            await host.StopAsync();
            host.Dispose();
        }
    }

    [Test]
    public async Task A_role_that_may_not_create_it_is_told_the_statement_to_run()
    {
        var role = $"test_{Guid.NewGuid():N}";
        await TestDatabases.ExecuteAsync(bench.Databases.Queue, $"CREATE ROLE {role} LOGIN PASSWORD 'plain'");
        await TestDatabases.ExecuteAsync(bench.Databases.Queue, "REVOKE CREATE ON SCHEMA public FROM PUBLIC");
        var plain = new NpgsqlConnectionStringBuilder(bench.Databases.Queue) { Username = role, Password = "plain" }.ConnectionString;
        using var host = bench.Build(
            TransactionMode.DtcOff, (_, _) => Task.CompletedTask, configure: endpoint => endpoint.UsePostgreSql(plain, bench.Databases.Widgets));

        var refusal = (await Assert.ThrowsAsync<InvalidOperationException>(() => host.StartAsync()))!.Message;

        await TestDatabases.ExecuteAsync(bench.Databases.Queue, refusal[(refusal.IndexOf("role: ", StringComparison.Ordinal) + 6)..]);
        await TestDatabases.ExecuteAsync(bench.Databases.Queue, $"GRANT SELECT, INSERT, UPDATE, DELETE ON work TO {role}");
        refusal = (await Assert.ThrowsAsync<InvalidOperationException>(() => host.StartAsync()))!.Message;
        await TestDatabases.ExecuteAsync(bench.Databases.Queue, refusal[refusal.IndexOf("GRANT INSERT", StringComparison.Ordinal)..]);
        await Assert.ThatAsync(() => host.StartAsync(), Throws.Nothing);
        await host.StopAsync();
    }

    [Test]
    public async Task Made_twice_it_keeps_its_messages()
    {
        await using var queue = new PostgreSqlQueue(bench.Databases.Queue, "work");
        await queue.CreateAsync(CancellationToken.None);
        await queue.EnqueueAsync([OutgoingMessage.Create("work", new BareBench.Todo())], CancellationToken.None);

        await queue.CreateAsync(CancellationToken.None);

        Assert.That(await queue.CountAsync(CancellationToken.None), Is.EqualTo(1));
    }
}
