using System.Data.Common;
using Kit.Endpoints.Bare;
using Kit.Endpoints.Bare.PostgreSql.TwoPhase;
using Kit.Endpoints.Cells;
using Kit.Handlers;
using Kit.Modes;
using Kit.Runner.Wire;
using Kit.Tests.AcrossServers;
using Kit.Tests.TwoPhase;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Diagnostics.HealthChecks;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;
using Npgsql;
using Npgsql.Replication;
using NServiceBus;

namespace Kit.Tests.NServiceBus;

/// <summary>
/// <c>full-dtc</c> of NServiceBus with its queue on one PostgreSQL server and its rows on another. The handler inserts a row and sends a message.
/// </summary>
[Parallelizable]
public sealed class HandlesAcrossServers : OnTwoServers
{
    private const string Name = "phases";
    private const string Sink = "collected";
    private const string NotTogether = "did not take part together";

    private readonly List<IHost> hosts = [];
    private WarningsOfAHost log = null!;
    private IMessageQueue queue = null!;
    private IMessageQueue sink = null!;

    [SetUp]
    public async Task CreateQueues()
    {
        log = new WarningsOfAHost();
        queue = new NServiceBusOnPostgreSqlApart().OpenQueue(Name, Bench.QueueConnection);
        await queue.CreateAsync(CancellationToken.None);
        sink = new NServiceBusOnPostgreSqlApart().OpenQueue(Sink, Bench.QueueConnection);
        await sink.CreateAsync(CancellationToken.None);
    }

    [TearDown]
    public async Task StopAll()
    {
        await StopAsync();
        await queue.DisposeAsync();
        await sink.DisposeAsync();
        log.Dispose();
    }

    [Test]
    public async Task Each_message_has_one_row_and_one_send_and_the_rows_of_workers_that_have_ended_are_deleted()
    {
        var messages = await EnqueueAsync(100);
        await StartAsync();
        await DrainedAsync();
        await StopAsync();

        await HasExactlyOneEffectOfEachAsync(messages);
        var more = await EnqueueAsync(1);
        await StartAsync(configure: transport => transport.RecoveryInterval = TimeSpan.FromMilliseconds(50));
        await DrainedAsync();
        await HasExactlyOneEffectOfEachAsync([.. messages, .. more]);
        await Eventually.HoldsAsync(async () => await Bench.CountWorkersAsync() == 1, "only the living worker has a row");
        Assert.That(log.Lines, Is.Empty);
    }

    [Test]
    public async Task An_attempt_that_fails_leaves_nothing_on_either_server()
    {
        var messages = await EnqueueAsync(1);
        var attempts = 0;
        await StartAsync(async (message, context) =>
        {
            await InsertAndSendAsync(message, context);
            if (Interlocked.Increment(ref attempts) < TransactionMode.FullDtc.Attempts)
                throw new InvalidOperationException("not yet");
        });
        await DrainedAsync();

        await HasExactlyOneEffectOfEachAsync(messages);
        Assert.That(attempts, Is.EqualTo(TransactionMode.FullDtc.Attempts));
    }

    [Test]
    public async Task A_message_whose_handler_asks_for_no_connection_is_sent_once()
    {
        var messages = await EnqueueAsync(10);
        await StartAsync(SendAsync);
        await Eventually.HoldsAsync(async () => await queue.CountAsync(CancellationToken.None) == 0, "the queue is empty");

        Assert.That(await sink.ReadMessagesAsync(CancellationToken.None), Is.EquivalentTo(messages));
        Assert.That(await ReadErrorsAsync(), Is.Empty);
    }

    /// <summary>Between prepare and decision the client waits for an answer, and the recovery of another process finds its branch.</summary>
    [Test]
    public async Task A_slow_worker_is_fenced_and_its_message_is_handled_again_without_an_attempt()
    {
        var messages = await EnqueueAsync(1);
        await using var proxy = new FaultProxy("127.0.0.1", new NpgsqlConnectionStringBuilder(Bench.DataConnection).Port);
        var slow = new NpgsqlConnectionStringBuilder(Bench.DataConnection) { Port = proxy.Port };
        var attempts = 0;
        await StartAsync(
            async (message, context) =>
            {
                await InsertAndSendAsync(message, context);
                if (Interlocked.Increment(ref attempts) == 1)
                    proxy.Stall(Traffic.ToClient);
            },
            data: slow.ConnectionString);
        await Eventually.HoldsAsync(async () => await Bench.Data.CountPreparedAsync() == 1, "prepared, and not answered");

        await StartAsync();
        Assert.That(await Bench.Data.CountPreparedAsync(), Is.Zero, "the second process has rolled the branch back");
        proxy.Resume(Traffic.ToClient);
        await DrainedAsync();

        await HasExactlyOneEffectOfEachAsync(messages);
        await Eventually.HoldsAsync(() => log.Count("fenced this worker") == 1, "the slow worker is fenced");
    }

    /// <summary>More often than a message has attempts: each time recovery fences the worker while its handler runs.</summary>
    [Test]
    public async Task Fenced_workers_count_no_attempt()
    {
        var attempts = 0;
        await StartAsync(async (message, context) =>
        {
            await InsertAndSendAsync(message, context);
            if (Interlocked.Increment(ref attempts) <= TransactionMode.FullDtc.Attempts)
                await TestDatabases.ExecuteAsync(Bench.QueueConnection, "UPDATE kit_worker SET is_fenced = true");
        });
        var messages = await EnqueueAsync(1);
        await DrainedAsync();

        await HasExactlyOneEffectOfEachAsync(messages);
        Assert.That(attempts, Is.EqualTo(TransactionMode.FullDtc.Attempts + 1));
    }

    /// <summary>For the transport it was handled then.</summary>
    [Test]
    public async Task A_message_that_goes_back_without_an_attempt_keeps_those_that_have_failed()
    {
        var handled = 0;
        await StartAsync(async (message, context) =>
        {
            await InsertAndSendAsync(message, context);
            if (Interlocked.Increment(ref handled) != TransactionMode.FullDtc.Attempts)
                throw new InvalidOperationException("not this one");
            await TestDatabases.ExecuteAsync(Bench.QueueConnection, "UPDATE kit_worker SET is_fenced = true");
        });
        await EnqueueAsync(1);
        await Eventually.HoldsAsync(async () => (await ReadErrorsAsync()).Count > 0, "the message is given up");

        Assert.That(handled, Is.EqualTo(TransactionMode.FullDtc.Attempts + 1));
    }

    /// <summary>Its lock would show a living worker for as long as the session lives, because the next message finds another row.</summary>
    [Test]
    public async Task The_row_of_a_fenced_worker_is_deleted_also_if_another_is_free()
    {
        var met = Enumerable.Range(0, 3).Select(_ => new Meeting(2)).ToList();
        var handled = 0;
        await StartAsync(
            async (message, context) =>
            {
                await InsertAndSendAsync(message, context);
                switch (Interlocked.Increment(ref handled))
                {
                    case 1 or 2:
                        await met[0].ArriveAsync();
                        break;
                    case 3:
                        await met[1].ArriveAsync();
                        break;
                    case 4:
                        await met[1].ArriveAsync();
                        await Eventually.HoldsAsync(async () => await Bench.Data.CountRowsAsync() == 3, "the other of the two is handled");
                        await TestDatabases.ExecuteAsync(
                            Bench.QueueConnection,
                            "UPDATE kit_worker SET is_fenced = true WHERE id = (SELECT id FROM kit_worker ORDER BY age(xmin) DESC LIMIT 1)");
                        break;
                    case 6 or 7:
                        await met[2].ArriveAsync();
                        break;
                }
            },
            configure: transport => transport.RecoveryInterval = TimeSpan.FromMilliseconds(50));
        var messages = new List<Guid>();
        for (var pair = 0; pair < met.Count; pair++)
        {
            messages.AddRange(await EnqueueAsync(2));
            await DrainedAsync();
        }

        await HasExactlyOneEffectOfEachAsync(messages);
        Assert.That(handled, Is.EqualTo(7));
        await Eventually.HoldsAsync(
            async () => await TestDatabases.ScalarAsync(Bench.QueueConnection, "SELECT count(*)::int FROM kit_worker WHERE is_fenced") == 0,
            "the fenced row is deleted");
    }

    /// <summary>The transport could not roll back either, and would count a second attempt.</summary>
    [Test]
    public async Task A_receive_that_is_lost_while_the_handler_runs_counts_one_attempt()
    {
        var messages = await EnqueueAsync(1);
        var attempts = 0;
        await StartAsync(async (message, context) =>
        {
            await InsertAndSendAsync(message, context);
            if (Interlocked.Increment(ref attempts) < TransactionMode.FullDtc.Attempts)
            {
                var receive = (NpgsqlConnection)context.GetReceiveTransaction().Connection!;
                await TestDatabases.ExecuteAsync(Bench.QueueConnection, $"SELECT pg_terminate_backend({receive.ProcessID}, 60000)");
            }
        });
        await DrainedAsync();

        await HasExactlyOneEffectOfEachAsync(messages);
        Assert.That(attempts, Is.EqualTo(TransactionMode.FullDtc.Attempts));
    }

    [Test]
    public async Task A_receive_that_cannot_commit_takes_the_rows_with_it()
    {
        await TestDatabases.ExecuteAsync(Bench.QueueConnection, "CREATE TABLE once (id int UNIQUE DEFERRABLE INITIALLY DEFERRED)");
        var attempts = 0;
        await StartAsync(async (message, context) =>
        {
            Interlocked.Increment(ref attempts);
            await InsertAndSendAsync(message, context);
            await ExecuteAsync(context.GetReceiveTransaction().Connection!, "INSERT INTO once VALUES (1), (1)");
        });
        await EnqueueAsync(1);
        await Eventually.HoldsAsync(async () => (await ReadErrorsAsync()).Count > 0, "the message is given up");

        Assert.That((await ReadErrorsAsync()).Single().Reason, Does.Contain("23505"));
        Assert.That(attempts, Is.EqualTo(TransactionMode.FullDtc.Attempts));
        Assert.That(await Bench.Data.CountRowsAsync(), Is.Zero);
        Assert.That(await Bench.Data.CountPreparedAsync(), Is.Zero);
        Assert.That(await sink.CountAsync(CancellationToken.None), Is.Zero);
    }

    /// <summary>Its message would be received again without end.</summary>
    [Test]
    public async Task An_error_that_a_handler_swallows_on_the_receives_connection_fails_the_message()
    {
        await StartAsync(async (message, context) =>
        {
            await InsertAsync(message, context);
            try
            {
                await ExecuteAsync(context.GetReceiveTransaction().Connection!, "SELECT 1 / 0");
            }
            catch (PostgresException)
            {
                // Swallowed: the transaction has failed.
            }
        });
        await EnqueueAsync(1);
        await Eventually.HoldsAsync(async () => (await ReadErrorsAsync()).Count > 0, "the message is given up");

        Assert.That((await ReadErrorsAsync()).Single().Reason, Does.Contain("25P02"));
        Assert.That(await Bench.Data.CountRowsAsync(), Is.Zero);
    }

    [TestCase(true)]
    [TestCase(false)]
    public async Task A_branch_that_a_killed_process_has_left_ends_as_its_list_says(bool isListed)
    {
        await StartAsync();
        await StopAsync();
        var worker = Guid.NewGuid();
        await InsertWorkerAsync(worker, isListed ? "{3,7}" : "{3}");
        await PrepareAsync(new WorkerBranch(await ReadIdentityAsync(), worker, 7).Id);

        await StartAsync();

        Assert.That(await Bench.Data.CountRowsAsync(), Is.EqualTo(isListed ? 1 : 0));
        Assert.That(await Bench.Data.CountPreparedAsync(), Is.Zero);
    }

    /// <summary>The session shows that the workers live, and nobody uses it until a worker is added.</summary>
    [Test]
    public async Task Without_the_session_of_the_workers_each_message_has_one_effect_and_their_rows_are_replaced()
    {
        await StartAsync(configure: transport => transport.RecoveryInterval = TimeSpan.FromMilliseconds(50));
        var messages = await EnqueueAsync(20);
        await DrainedAsync();
        var before = await ReadWorkersAsync();
        Assert.That(
            await TestDatabases.ScalarAsync(
                Bench.QueueConnection, "SELECT count(pg_terminate_backend(pid, 60000))::int FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 1"),
            Is.GreaterThan(0));
        await Eventually.HoldsAsync(async () => !(await ReadWorkersAsync()).Intersect(before).Any(), "recovery has deleted their rows");

        var more = await EnqueueAsync(20);
        await DrainedAsync();

        await HasExactlyOneEffectOfEachAsync([.. messages, .. more]);
        Assert.That(await Bench.CountWorkersAsync(), Is.InRange(1, 2));
    }

    /// <summary>Otherwise the recovery of another process could fence the workers, and end their branches first.</summary>
    [Test]
    public async Task Workers_live_until_the_branches_that_wait_at_the_stop_have_ended()
    {
        await using var queues = new FaultProxy("127.0.0.1", new NpgsqlConnectionStringBuilder(Bench.QueueConnection).Port);
        await using var data = new FaultProxy("127.0.0.1", new NpgsqlConnectionStringBuilder(Bench.DataConnection).Port);
        await StartAsync(
            async (message, context) =>
            {
                await InsertAsync(message, context);
                queues.Stall(Traffic.ToServer);
            },
            queues: new NpgsqlConnectionStringBuilder(Bench.QueueConnection) { Port = queues.Port }.ConnectionString,
            data: new NpgsqlConnectionStringBuilder(Bench.DataConnection) { Port = data.Port }.ConnectionString,
            configure: transport => transport.RecoveryInterval = TimeSpan.FromHours(1));
        await EnqueueAsync(1);
        await Eventually.HoldsAsync(async () => await Bench.Data.CountPreparedAsync() == 1, "prepared");
        data.Stall(Traffic.ToServer);
        queues.Resume(Traffic.ToServer);
        await Eventually.HoldsAsync(async () => await queue.CountAsync(CancellationToken.None) == 0, "decided, and not committed");

        var stopping = StopAsync();
        var isFree = await Eventually.IsSoAsync(
            async () => await TestDatabases.ScalarAsync(
                Bench.QueueConnection, "SELECT count(*)::int FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 1") == 0,
            TimeSpan.FromSeconds(3));
        data.Resume(Traffic.ToServer);
        await stopping;

        Assert.That(isFree, Is.False, "the worker's lock is free");
        Assert.That((await Bench.Data.CountRowsAsync(), await Bench.Data.CountPreparedAsync()), Is.EqualTo((1, 0)));
    }

    [Test]
    public async Task An_outage_of_each_server_loses_and_doubles_nothing_and_gives_nothing_up()
    {
        await StartAsync(configure: transport => transport.Inner.TimeToWaitBeforeTriggeringCircuitBreaker = TimeSpan.FromMinutes(1));
        var messages = new List<Guid>();
        foreach (var server in new[] { QueueServer, DataServer })
        {
            messages.AddRange(await EnqueueAsync(200));
            await Eventually.HoldsAsync(async () => await Bench.Data.CountRowsAsync() > messages.Count - 200, "some are handled");
            await server.StopImmediatelyAsync(CancellationToken.None);
            await server.RestartAsync(CancellationToken.None);
            await DrainedAsync();
        }

        await HasExactlyOneEffectOfEachAsync(messages);
    }

    [TestCase(true, "off")]
    [TestCase(false, "local")]
    public async Task A_server_whose_commits_do_not_wait_is_refused(bool ofQueue, string setting)
    {
        var connection = ofQueue ? Bench.QueueConnection : Bench.DataConnection;
        await TestDatabases.ExecuteAsync(
            connection, $"ALTER DATABASE {new NpgsqlConnectionStringBuilder(connection).Database} SET synchronous_commit = {setting}");

        await Assert.ThatAsync(() => StartAsync(), Throws.InvalidOperationException.With.Message.Contains($"synchronous_commit = {setting}"));
    }

    /// <summary>The row that decides is written after the receive's snapshot.</summary>
    [Test]
    public async Task A_receive_with_a_snapshot_is_refused() => await Assert.ThatAsync(
        () => StartAsync(receive: System.Transactions.IsolationLevel.RepeatableRead),
        Throws.InvalidOperationException.With.Message.Contains("a receive in RepeatableRead"));

    [Test]
    public async Task A_standby_that_nobody_waits_for_is_refused_or_accepted()
    {
        await using var standby = new PhysicalReplicationConnection(DataServer.ConnectionString);
        await standby.Open();

        await Assert.ThatAsync(
            () => StartAsync(), Throws.InvalidOperationException.With.Message.Contains("or set the transport's AcceptsAsynchronousStandbys"));
        var messages = await EnqueueAsync(1);
        await StartAsync(configure: transport => transport.AcceptsAsynchronousStandbys = true);
        await DrainedAsync();
        await HasExactlyOneEffectOfEachAsync(messages);
    }

    [Test]
    public async Task A_standby_that_comes_later_is_reported()
    {
        var transport = await StartAsync(configure: transport => transport.RecoveryInterval = TimeSpan.FromMilliseconds(10));
        Assert.That((await CheckAsync(transport)).Status, Is.EqualTo(HealthStatus.Healthy));
        await using var standby = new PhysicalReplicationConnection(DataServer.ConnectionString);
        await standby.Open();

        await Eventually.HoldsAsync(() => log.Count("does not wait for 1 of the standbys") == 1, "it is logged");
        var found = await CheckAsync(transport);
        Assert.That(found.Status, Is.EqualTo(HealthStatus.Degraded));
        Assert.That(found.Description, Does.Contain("synchronous_standby_names"));
    }

    [TestCase(true)]
    [TestCase(false)]
    public async Task A_clone_of_a_server_is_refused_and_its_origin_keeps_its_branches(bool ofQueue)
    {
        await StartAsync();
        await StopAsync();
        await using var clone = await PrivateClone.OfAsync(ofQueue ? QueueServer : DataServer);
        await StartAsync();
        await StopAsync();
        var worker = Guid.NewGuid();
        await InsertWorkerAsync(worker, "{1}");
        await PrepareAsync(new WorkerBranch(await ReadIdentityAsync(), worker, 1).Id);

        await Assert.ThatAsync(
            () => ofQueue
                ? StartAsync(queues: clone.ConnectionTo(Bench.QueueConnection))
                : StartAsync(data: clone.ConnectionTo(Bench.DataConnection)),
            Throws.InvalidOperationException.With.Message.Contains(NotTogether));
        await StartAsync();

        Assert.That(await Bench.Data.CountRowsAsync(), Is.EqualTo(1));
        Assert.That(await Bench.Data.CountPreparedAsync(), Is.Zero);
    }

    [Test]
    public async Task An_origin_whose_clone_was_started_handles_and_ends_nothing_any_more_and_says_so()
    {
        var transport = await StartAsync(configure: transport => transport.RecoveryInterval = TimeSpan.FromMilliseconds(100));
        await Eventually.HoldsAsync(
            async () =>
            {
                await TestDatabases.ExecuteAsync(Bench.QueueConnection, "UPDATE kit_queue_data SET generation = gen_random_uuid(), next = NULL");
                return log.Count("Nothing is handled") > 0;
            },
            "the origin's recovery is refused");
        var found = await CheckAsync(transport);
        Assert.That(found.Status, Is.EqualTo(HealthStatus.Unhealthy));
        Assert.That(found.Description, Does.Contain(NotTogether));

        await EnqueueAsync(2);
        await Eventually.HoldsAsync(() => log.Count("without an attempt: 8.") > 0, "the messages were given back more often than they may fail");

        Assert.That(await queue.CountAsync(CancellationToken.None), Is.EqualTo(2));
        Assert.That(await ReadErrorsAsync(), Is.Empty);
        Assert.That(await Bench.Data.CountRowsAsync(), Is.Zero);
    }

    /// <summary>
    /// As after a failover to a standby, with a server that lives on: the transport's connections end, and the session that writes the workers' rows stays.
    /// </summary>
    [Test]
    public async Task A_queue_whose_address_leads_to_another_server_goes_on_there()
    {
        await using var proxy = new FaultProxy("127.0.0.1", new NpgsqlConnectionStringBuilder(Bench.QueueConnection).Port);
        await StartAsync(
            queues: new NpgsqlConnectionStringBuilder(Bench.QueueConnection) { Port = proxy.Port }.ConnectionString,
            configure: transport => transport.RecoveryInterval = TimeSpan.FromHours(1));
        await EnqueueAsync(1);
        await DrainedAsync();
        await using var standby = await PrivateClone.OfAsync(QueueServer);
        var moved = new NpgsqlConnectionStringBuilder(standby.ConnectionTo(Bench.QueueConnection));
        await TestDatabases.ExecuteAsync(moved.ConnectionString, "UPDATE kit_worker SET is_fenced = true");
        proxy.Redirect(moved.Port);
        await TestDatabases.ExecuteAsync(
            Bench.QueueConnection,
            "SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() " +
            "AND pid NOT IN (SELECT pid FROM pg_locks WHERE locktype = 'advisory')");

        await using var there = new NServiceBusOnPostgreSqlApart().OpenQueue(Name, moved.ConnectionString);
        await there.PreloadAsync([new BuildWidget(Guid.CreateVersion7())], CancellationToken.None);
        await Eventually.HoldsAsync(async () => await Bench.Data.CountRowsAsync() == 2, "it is handled there");

        Assert.That(await there.ReadErrorsAsync(CancellationToken.None), Is.Empty);
    }

    private static async Task InsertAndSendAsync(BuildWidget message, IMessageHandlerContext context)
    {
        await InsertAsync(message, context);
        await SendAsync(message, context);
    }

    private static async Task InsertAsync(BuildWidget message, IMessageHandlerContext context) => await ExecuteAsync(
        await context.GetBranchConnectionAsync(), $"INSERT INTO widget (id, message_id) VALUES ({WidgetId.Next()}, '{message.MessageId}')");

    private static Task SendAsync(BuildWidget message, IMessageHandlerContext context)
    {
        var options = new SendOptions();
        options.SetDestination(Sink);
        options.SetMessageId($"{message.MessageId}");
        return context.Send(message, options);
    }

    private static async Task ExecuteAsync(DbConnection connection, string statement)
    {
        await using var command = connection.CreateCommand();
        command.CommandText = statement;
        await command.ExecuteNonQueryAsync();
    }

    private async Task<TwoPhasePostgreSqlTransport> StartAsync(
        HandlesInTwoPhases.Handle? handle = null, string? queues = null, string? data = null, Action<TwoPhasePostgreSqlTransport>? configure = null,
        System.Transactions.IsolationLevel? receive = null)
    {
        var transport = new TwoPhasePostgreSqlTransport(Pooled(queues ?? Bench.QueueConnection), Pooled(data ?? Bench.DataConnection));
        configure?.Invoke(transport);
        var application = Host.CreateEmptyApplicationBuilder(settings: null);
        application.Logging.AddProvider(log).AddFilter("NServiceBus", level => level >= LogLevel.Critical);
        application.Services.AddSingleton(handle ?? InsertAndSendAsync);
        var endpoint = TestEndpoint.Configure(Name, transport, TransactionMode.FullDtc);
        if (receive is { } isolation)
            transport.Inner.TransactionScope.IsolationLevel = isolation;
        endpoint.LimitMessageProcessingConcurrencyTo(2);
        endpoint.AddHandler<HandlesInTwoPhases.Handler>();
        application.Services.AddNServiceBusEndpoint(endpoint);
        var host = application.Build();
        hosts.Add(host);
        await host.StartAsync();
        return transport;
    }

    private static string Pooled(string connectionString) => new NpgsqlConnectionStringBuilder(connectionString) { Pooling = true }.ConnectionString;

    private async Task StopAsync()
    {
        foreach (var host in hosts)
        {
            await host.StopAsync();
            await ((IAsyncDisposable)host).DisposeAsync();
        }

        hosts.Clear();
    }

    private async Task<IReadOnlyList<Guid>> EnqueueAsync(int count)
    {
        var messages = Enumerable.Range(0, count).Select(_ => Guid.CreateVersion7()).ToList();
        await queue.PreloadAsync(messages.Select(id => new BuildWidget(id)), CancellationToken.None);
        return messages;
    }

    private Task DrainedAsync() => Eventually.HoldsAsync(
        async () => await queue.CountAsync(CancellationToken.None) == 0 && await Bench.Data.CountPreparedAsync() == 0,
        "the queue is empty and nothing is prepared");

    private async Task HasExactlyOneEffectOfEachAsync(IReadOnlyCollection<Guid> messages)
    {
        var rows = await Bench.Data.ReadRowsByMessageAsync();
        using (Assert.EnterMultipleScope())
        {
            Assert.That(rows.Keys, Is.EquivalentTo(messages), "rows");
            Assert.That(rows.Values, Has.All.EqualTo(1), "rows of a message");
            Assert.That(await sink.ReadMessagesAsync(CancellationToken.None), Is.EquivalentTo(messages), "sends");
            Assert.That(await ReadErrorsAsync(), Is.Empty);
        }
    }

    private Task<IReadOnlyList<DeadLetter>> ReadErrorsAsync() => queue.ReadErrorsAsync(CancellationToken.None);

    private async Task<IReadOnlyCollection<Guid>> ReadWorkersAsync()
    {
        await using var source = NpgsqlDataSource.Create(Bench.QueueConnection);
        await using var command = source.CreateCommand("SELECT coalesce(array_agg(id), '{}') FROM kit_worker");
        return (Guid[])(await command.ExecuteScalarAsync())!;
    }

    /// <summary>So many wait for each other.</summary>
    private sealed class Meeting(int size)
    {
        private readonly TaskCompletionSource all = new();
        private int arrived;

        public Task ArriveAsync()
        {
            if (Interlocked.Increment(ref arrived) == size)
                all.SetResult();
            return all.Task;
        }
    }

    private static async Task<HealthReportEntry> CheckAsync(TwoPhasePostgreSqlTransport transport)
    {
        var services = new ServiceCollection().AddLogging();
        services.AddHealthChecks().AddTwoPhaseTransport("phases", transport);
        await using var provider = services.BuildServiceProvider();
        return (await provider.GetRequiredService<HealthCheckService>().CheckHealthAsync()).Entries["phases"];
    }
}
