using System.Diagnostics;
using Kit.Endpoints.Bare;
using Kit.Endpoints.Bare.PostgreSql;
using Kit.Endpoints.Bare.PostgreSql.TwoPhase;
using Kit.Modes;
using Kit.Runner.Servers;
using Kit.Runner.Wire;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Logging.Abstractions;
using Npgsql;

namespace Kit.Tests.TwoPhase;

/// <summary>full-dtc where a copy of the server runs too: both have one system identifier, and each has decisions of its own.</summary>
[Exhaustive, Parallelizable]
public sealed class QueueAndDataOnClones
{
    private const string TwoServers = "on one PostgreSQL server";

    private PrivatePostgreSql server = null!;
    private TestDatabases databases = null!;
    private NpgsqlDataSource queues = null!;
    private PostgreSqlQueue queue = null!;

    [OneTimeSetUp]
    public async Task StartServer()
    {
        PostgreSqlServer.IgnoreWithoutPrograms();
        server = await PrivatePostgreSql.StartAsync(CancellationToken.None);
    }

    [OneTimeTearDown]
    public async Task StopServer()
    {
        if (server is not null)
            await server.DisposeAsync();
    }

    [SetUp]
    public async Task SetUp()
    {
        databases = await TestDatabases.CreateAsync(server.ConnectionString);
        queues = NpgsqlDataSource.Create(databases.Queue);
        queue = new PostgreSqlQueue(databases.Queue, "work");
        await queue.CreateAsync(CancellationToken.None);
    }

    [TearDown]
    public async Task TearDown()
    {
        if (queue is not null)
            await queue.DisposeAsync();
        if (queues is not null)
            await queues.DisposeAsync();
        if (databases is null)
            return;
        await databases.RollBackPreparedAsync();
        await databases.DisposeAsync();
        (databases, queues, queue) = (null!, null!, null!);
    }

    /// <summary>A restored backup whose queue still holds the message, and whose configuration still names the real database.</summary>
    [TestCase("full-dtc")]
    [TestCase("full-dtc-waiting", Category = ExhaustiveAttribute.Category)]
    public async Task A_queue_on_a_clone_is_refused_and_its_message_has_one_row(string mode)
    {
        var message = await EnqueueAsync();
        await using var clone = await PrivateClone.OfAsync(server);
        await RunAsync(mode, databases.Queue, databases.Widgets, message);

        using (Assert.EnterMultipleScope())
        {
            await Assert.ThatAsync(
                () => RunAsync(mode, clone.ConnectionTo(databases.Queue), databases.Widgets, message),
                Throws.InvalidOperationException.With.Message.Contains(TwoServers).And.Message.Contains("promoted standby"));
            Assert.That(await databases.CountRowsAsync(message), Is.EqualTo(1));
        }
    }

    /// <summary>A list of hosts, as written for a failover: when the first does not answer, the driver goes to the second.</summary>
    [TestCase("full-dtc")]
    [TestCase("full-dtc-waiting", Category = ExhaustiveAttribute.Category)]
    public async Task Data_that_moves_to_a_clone_is_not_written_there_and_no_attempt_is_counted(string mode)
    {
        await using var clone = await PrivateClone.OfAsync(server);
        await using var proxy = new FaultProxy("127.0.0.1", new NpgsqlConnectionStringBuilder(server.ConnectionString).Port);
        var data = new NpgsqlConnectionStringBuilder(databases.Widgets)
        {
            Host = $"127.0.0.1:{proxy.Port},{clone.Address}",
            HostRecheckSeconds = 1,
            TargetSessionAttributes = "primary",
        };
        var warnings = new WarningsOfAHost();
        using var host = Build(mode, databases.Queue, data.ConnectionString, warnings);
        await host.StartAsync();
        var before = await EnqueueAsync();
        await Eventually.HoldsAsync(async () => await databases.CountRowsAsync(before) == 1, "the first message is handled");

        proxy.RefuseConnections();
        await proxy.EndAllAsync(Ending.Cut);
        var after = await EnqueueAsync();
        await Eventually.HoldsAsync(
            async () => warnings.Count(TwoServers) > 3 || await queue.CountAsync(CancellationToken.None) == 0,
            "the data is tried more often than a message is");
        var onTheClone = await CountOnTheCloneAsync(clone, after);
        var errors = await queue.ReadErrorsAsync(CancellationToken.None);
        await TestContext.Out.WriteLineAsync($"{mode}: {onTheClone} rows on the clone, {errors.Count} errors; {warnings}");
        proxy.AcceptConnections();
        var isHandled = await Eventually.IsSoAsync(async () => await databases.CountRowsAsync(after) == 1, Eventually.Limit);
        await host.StopAsync();

        Assert.Multiple(() =>
        {
            Assert.That(onTheClone, Is.Zero, "rows on the clone");
            Assert.That(errors, Is.Empty);
            Assert.That(isHandled, Is.True, "handled when the data is back");
        });
        Assert.That(await databases.CountPreparedAsync(), Is.Zero);
    }

    /// <summary>Taken between prepare and decision, a clone has the branch too, and says of the receive that it was aborted.</summary>
    [Test]
    public async Task Recovery_ends_a_branch_as_its_own_server_decided()
    {
        await using var widgets = NpgsqlDataSource.Create(databases.Widgets);
        await using var receive = await queues.OpenConnectionAsync();
        await using var transaction = await receive.BeginTransactionAsync();
        await PrepareAsync(receive);
        await using var clone = await PrivateClone.OfAsync(server);
        await transaction.CommitAsync();
        await using var cloned = NpgsqlDataSource.Create(clone.ConnectionTo(databases.Widgets));

        var decisions = await ReadDecisionsAsync();
        await new Recovery(widgets, decisions, NullLogger.Instance).RunAsync(TimeSpan.Zero, CancellationToken.None);
        await new Recovery(cloned, decisions, NullLogger.Instance).RunAsync(TimeSpan.Zero, CancellationToken.None);

        Assert.That(await databases.CountRowsAsync(), Is.EqualTo(1));
        Assert.That(await CountOnTheCloneAsync(clone), Is.Zero, "its receive was aborted there");
    }

    /// <summary>A promoted standby has the branch from its origin's log, and not always the commit of the receive.</summary>
    [Test]
    public async Task The_second_phase_in_the_background_commits_nothing_on_a_clone_where_the_receive_was_aborted()
    {
        await using var receive = await queues.OpenConnectionAsync();
        await using var transaction = await receive.BeginTransactionAsync();
        var branch = await PrepareAsync(receive);
        await using var clone = await PrivateClone.OfAsync(server);
        await transaction.CommitAsync();
        await using var cloned = NpgsqlDataSource.Create(clone.ConnectionTo(databases.Widgets));

        var slots = new Slots(cloned, new SlotNeeds(Total: 10, Concurrency: 1), NullLogger.Instance, _ => { });
        await using (var secondPhase = new BackgroundSecondPhase(cloned, await ReadDecisionsAsync(), slots, NullLogger.Instance))
            await secondPhase.FinishAsync(new PreparedBranch(branch, cloned, Stopwatch.GetTimestamp()));

        Assert.That(await CountOnTheCloneAsync(clone), Is.Zero);
    }

    private async Task<ReceivesAsDecisions> ReadDecisionsAsync() => new(await QueueDatabase.ReadAsync(queues, CancellationToken.None));

    /// <summary>A branch that the transaction of a connection will decide, with a row.</summary>
    private async Task<BranchId> PrepareAsync(NpgsqlConnection receive)
    {
        await using var read = new NpgsqlCommand("SELECT pg_current_xact_id()", receive);
        var branch = (await ReadDecisionsAsync()).BranchOf((ulong)(await read.ExecuteScalarAsync())!);
        await TestDatabases.ExecuteAsync(
            databases.Widgets, $"BEGIN; INSERT INTO widget VALUES (1, '{Guid.NewGuid()}'); PREPARE TRANSACTION '{branch}'");
        return branch;
    }

    private Task<int> CountOnTheCloneAsync(PrivateClone clone) =>
        TestDatabases.ScalarAsync(clone.ConnectionTo(databases.Widgets), "SELECT count(*)::int FROM widget");

    private Task<int> CountOnTheCloneAsync(PrivateClone clone, Guid message) => TestDatabases.ScalarAsync(
        clone.ConnectionTo(databases.Widgets), $"SELECT count(*)::int FROM widget WHERE message_id = '{message}'");

    private async Task<Guid> EnqueueAsync()
    {
        var message = Guid.CreateVersion7();
        await queue.EnqueueAsync([OutgoingMessage.Create("work", new Widget(), message)], CancellationToken.None);
        return message;
    }

    private async Task RunAsync(string mode, string queueConnection, string dataConnection, Guid message)
    {
        using var host = Build(mode, queueConnection, dataConnection, new WarningsOfAHost());
        await host.StartAsync();
        await Eventually.HoldsAsync(async () => await databases.CountRowsAsync(message) > 0, "the message is handled");
        var from = new NpgsqlConnectionStringBuilder(queueConnection) { Pooling = false }.ConnectionString;
        await Eventually.HoldsAsync(
            async () => await TestDatabases.ScalarAsync(from, "SELECT count(*)::int FROM work") == 0, "the queue is empty");
        await host.StopAsync();
    }

    private static IHost Build(string mode, string queueConnection, string dataConnection, WarningsOfAHost warnings)
    {
        var host = Host.CreateEmptyApplicationBuilder(settings: null);
        host.Logging.AddProvider(warnings);
        host.Services.AddBareEndpoint("work", endpoint => endpoint
            .UsePostgreSql(queueConnection, dataConnection)
            .UseTransactionMode(TransactionMode.All.Single(known => known.Name == mode))
            .LimitConcurrency(1)
            .Handle<Widget, WidgetHandler>());
        return host.Build();
    }

    private sealed record Widget;

    private sealed class WidgetHandler : IMessageHandler<Widget>
    {
        public async Task HandleAsync(Widget message, MessageContext context, CancellationToken cancellationToken)
        {
            var connection = await context.GetConnectionAsync(cancellationToken);
            await using var insert = connection.CreateCommand();
            insert.CommandText = $"INSERT INTO widget (id, message_id) VALUES ({Kit.Handlers.WidgetId.Next()}, '{context.MessageId}')";
            await insert.ExecuteNonQueryAsync(cancellationToken);
        }
    }
}
