using Kit.Endpoints.Bare;
using Kit.Endpoints.Bare.PostgreSql;
using Kit.Modes;
using Kit.Runner.Servers;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;
using Npgsql;

namespace Kit.Tests.Bare;

/// <summary>Which of a message's commits wait until the server's log is on disk, as each session of the endpoint says of itself.</summary>
[Parallelizable]
public sealed class FlushOfTheLog
{
    // Each row that a session of the endpoint takes out of its queue or puts into another one is noted with what holds of its commit.
    private const string NoteCommits =
        """
        CREATE TABLE noted (what text NOT NULL, waits text NOT NULL);
        CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS
            $$BEGIN INSERT INTO noted VALUES (TG_ARGV[0], current_setting('synchronous_commit')); RETURN NULL; END$$;
        CREATE TRIGGER note AFTER DELETE ON work FOR EACH ROW EXECUTE FUNCTION note('receive');
        CREATE TRIGGER note AFTER INSERT ON sink FOR EACH ROW EXECUTE FUNCTION note('send');
        """;

    private BareBench bench = null!;

    private static IEnumerable<TestCaseData> Settings =>
    [
        new("full-dtc", "last", "off", "on", "off"),
        new("full-dtc-waiting", "last", "off", "on", "off"),
        new("dtc-off", "last", "on", "off", "on"),
        new("scope-off", "last", "on", "off", "on"),
        new("outbox", "last", "on", "off", "on"),
        new("transactions-off", "last", "off", "on", "on"),
        new("shared", "none", "off", "off", "off"),
        .. BareBench.Modes.Select(mode => new TestCaseData(mode.Name, "every", "on", "on", "on")),
    ];

    [SetUp]
    public async Task SetUp() => bench = await BareBench.CreateAsync();

    [TearDown]
    public async Task TearDown() => await bench.DisposeAsync();

    [ModeSource(nameof(Settings))]
    public async Task Each_commit_waits_or_not_as_the_setting_says(string name, string flush, string receive, string handler, string send)
    {
        var mode = TransactionMode.Parse(name);
        var database = bench.Databases.QueueOf(mode);
        await using var sink = new PostgreSqlQueue(database, "sink");
        await sink.CreateAsync(CancellationToken.None);
        await TestDatabases.ExecuteAsync(database, NoteCommits);
        var seen = "";

        var errors = await bench.HandleAsync(
            mode,
            async (context, cancellationToken) =>
            {
                await using var insert = (await context.GetConnectionAsync(cancellationToken)).CreateCommand();
                insert.CommandText = "INSERT INTO widget (id, message_id) VALUES (1, gen_random_uuid()) RETURNING current_setting('synchronous_commit')";
                seen = (string)(await insert.ExecuteScalarAsync(cancellationToken))!;
                await context.SendAsync("sink", "an invoice", cancellationToken: cancellationToken);
            },
            endpoint => endpoint.FlushLog(SettingOf(flush)));

        using (Assert.EnterMultipleScope())
        {
            Assert.That(errors, Is.Empty);
            Assert.That(seen, Is.EqualTo(handler), "the handler's connection");
            Assert.That(await NotedAsync(database, "receive"), Is.EqualTo(receive), "the session that receives");
            Assert.That(await NotedAsync(database, "send"), Is.EqualTo(send), "the session that sends");
            Assert.That(await bench.Databases.CountRowsAsync(), Is.EqualTo(1));
        }
    }

    [TestCase("shared", "last", "shared has one commit for each message")]
    [TestCase("npgsql-scope", "last", "nobody recovers what a crash leaves")]
    [TestCase("dtc-off", "none", "use 'last'")]
    [TestCase("full-dtc", "none", "use 'last'")]
    [TestCase("transactions-off", "none", "use 'last'")]
    [TestCase("outbox", "none", "use 'last'")]
    public async Task What_would_weaken_the_mode_is_refused(string mode, string flush, string because)
    {
        using var host = bench.Build(TransactionMode.Parse(mode), (_, _) => Task.CompletedTask, configure: endpoint => endpoint.FlushLog(SettingOf(flush)));

        await Assert.ThatAsync(
            () => host.StartAsync(),
            Throws.InstanceOf<NotSupportedException>().With.Message.StartsWith($"Endpoint 'work' cannot leave out flushes (FlushLog, '{flush}') in {mode}: ")
                .And.Message.Contains(because));
    }

    [Test]
    public async Task On_RabbitMQ_it_is_refused()
    {
        using var host = bench.Build(
            TransactionMode.DtcOff, (_, _) => Task.CompletedTask,
            configure: endpoint => endpoint.UseRabbitMq("amqp://127.0.0.1:9", bench.Databases.Widgets).FlushLog(LogFlush.Last));

        await Assert.ThatAsync(
            () => host.StartAsync(), Throws.InstanceOf<NotSupportedException>().With.Message.Contains("before the handlers' rows are durable"));
    }

    [Test]
    public async Task Two_servers_are_refused()
    {
        PostgreSqlServer.IgnoreWithoutPrograms();
        await using var other = await PrivatePostgreSql.StartAsync(CancellationToken.None);
        foreach (var mode in new[] { "dtc-off", "scope-off", "transactions-off", "outbox", "full-dtc" })
        {
            using var host = bench.Build(
                TransactionMode.Parse(mode), (_, _) => Task.CompletedTask, other.ConnectionString, configure: endpoint => endpoint.FlushLog(LogFlush.Last));

            await Assert.ThatAsync(
                () => host.StartAsync(),
                Throws.InvalidOperationException.With.Message.StartsWith(
                    $"{mode} with flush 'last' needs the queue and the handlers' database on one PostgreSQL"));
        }
    }

    [Test]
    public async Task A_data_source_is_refused()
    {
        using var source = NpgsqlDataSource.Create(new NpgsqlConnectionStringBuilder(bench.Databases.Widgets) { Enlist = false });

        Assert.That(
            await bench.RefusalOfAsync(TransactionMode.DtcOff, endpoint => endpoint.UsePostgreSql(source, source).FlushLog(LogFlush.Last)),
            Does.EndWith("Give UsePostgreSql connection strings."));
    }

    [Test]
    public async Task A_list_of_hosts_is_refused()
    {
        var hosts = new NpgsqlConnectionStringBuilder(bench.Databases.Widgets);
        hosts.Host = $"{hosts.Host},{hosts.Host}";
        hosts.TargetSessionAttributes = "primary";

        Assert.That(
            await bench.RefusalOfAsync(
                TransactionMode.DtcOff, endpoint => endpoint.UsePostgreSql(bench.Databases.Queue, hosts.ConnectionString).FlushLog(LogFlush.Last)),
            Does.Contain("with a list of hosts"));
    }

    /// <summary>The commit that is to carry the others would carry nothing.</summary>
    [Test]
    public async Task A_role_whose_last_commit_does_not_wait_is_refused()
    {
        var lax = new NpgsqlConnectionStringBuilder(bench.Databases.Queue) { Options = "-c synchronous_commit=off" }.ConnectionString;

        Assert.That(
            await bench.RefusalOfAsync(TransactionMode.DtcOff, endpoint => endpoint.UsePostgreSql(lax, bench.Databases.Widgets).FlushLog(LogFlush.Last)),
            Does.Contain("the commits of its queue must wait for the log, and synchronous_commit is off"));
    }

    /// <summary>The receives are not to wait. What the handler sends is.</summary>
    [TestCase("transactions-off")]
    [TestCase("full-dtc")]
    public async Task A_database_of_the_queue_whose_sends_do_not_wait_is_refused(string mode)
    {
        var name = new NpgsqlConnectionStringBuilder(bench.Databases.Queue).Database;
        await TestDatabases.ExecuteAsync(bench.Databases.Queue, $"ALTER DATABASE \"{name}\" SET synchronous_commit = off");

        Assert.That(
            await bench.RefusalOfAsync(
                TransactionMode.Parse(mode),
                endpoint => endpoint.UsePostgreSql(bench.Databases.Queue, bench.Databases.Widgets).FlushLog(LogFlush.Last)),
            Does.Contain("the commits of its queue must wait for the log, and synchronous_commit is off"));
    }

    [Test]
    public async Task A_server_that_waits_for_no_commit_is_warned_of()
    {
        var lax = new NpgsqlConnectionStringBuilder(bench.Databases.Widgets) { Options = "-c synchronous_commit=off" }.ConnectionString;
        using var warnings = new WarningsOfAHost();
        using var host = bench.Build(
            TransactionMode.ScopeOff, (_, _) => Task.CompletedTask, lax,
            services: services => services.AddLogging(logging => logging.AddProvider(warnings)));

        await host.StartAsync();
        await host.StopAsync();

        Assert.That(warnings.Count("works in the database of its handlers' data with synchronous_commit = off"), Is.EqualTo(1));
    }

    private static LogFlush SettingOf(string name) => LogFlush.All.Single(flush => flush.Name == name);

    private static async Task<string?> NotedAsync(string database, string what)
    {
        await using var source = NpgsqlDataSource.Create(database);
        await using var read = source.CreateCommand("SELECT string_agg(DISTINCT waits, ' and ') FROM noted WHERE what = $1");
        read.Parameters.Add(new NpgsqlParameter<string> { TypedValue = what });
        return await read.ExecuteScalarAsync() as string;
    }
}
