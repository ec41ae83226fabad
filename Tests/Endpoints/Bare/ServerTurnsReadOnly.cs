using Kit.Endpoints.Bare;
using Kit.Endpoints.Bare.PostgreSql;
using Kit.Endpoints.Bare.RabbitMq;
using Kit.Endpoints.Cells;
using Kit.Modes;
using Kit.Runner.Wire;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;
using Npgsql;

namespace Kit.Tests.Bare;

/// <summary>The handlers' server refuses to write, or says that it lacks a resource: a fail-over, a full disk.</summary>
[Parallelizable]
public sealed class ServerTurnsReadOnly
{
    private const int Messages = 5;
    private BareBench bench = null!;

    /// <summary>Those in which the handler has a connection of its own, and a message can go back.</summary>
    private static IEnumerable<TransactionMode> ReturningModes =>
        BareBench.Modes.Where(mode => !mode.NeedsOneDatabase && mode.CommitOrder.IsMessageLeftInHandler);

    private static IEnumerable<TestCaseData> Returning =>
    [
        .. ReturningModes.Select(mode => new TestCaseData("postgresql", mode)),
        .. TransactionMode.All.Where(mode => RabbitMqSupport.Of(mode).IsSupported && mode.CommitOrder.IsMessageLeftInHandler)
            .Select(mode => new TestCaseData("rabbitmq", mode)),
    ];

    private static IEnumerable<TransactionMode> LentModes => ReturningModes.Where(mode => mode != TransactionMode.ScopeOff).Append(TransactionMode.Shared);

    [SetUp]
    public async Task SetUp() => bench = await BareBench.CreateAsync();

    [TearDown]
    public async Task TearDown() => await bench.DisposeAsync();

    // The handler's sessions in full-dtc are proved to be on the queue's server.
    private static IEnumerable<TransactionMode> ModesWithAPool =>
        ReturningModes.Where(mode => mode != TransactionMode.FullDtc && mode != TransactionMode.FullDtcWaiting);

    /// <summary>As after a failover: the server is there, and a session of the pool is one to its predecessor.</summary>
    [ModeSource(nameof(ModesWithAPool))]
    public async Task A_session_that_alone_is_read_only_is_not_used_again(TransactionMode mode)
    {
        await bench.QueueOf(mode).EnqueueAsync([OutgoingMessage.Create("work", new BareBench.Todo())], CancellationToken.None);

        var errors = await bench.HandleAsync(
            mode,
            async (context, cancellationToken) =>
            {
                await BareBench.ExecuteAsync(context, $"INSERT INTO widget VALUES ({Kit.Handlers.WidgetId.Next()}, '{context.MessageId}')", cancellationToken);
                await BareBench.ExecuteAsync(context, "SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY", cancellationToken);
            },
            endpoint => endpoint.UsePostgreSql(bench.Databases.QueueOf(mode), bench.Databases.Widgets + ";No Reset On Close=true"));

        Assert.That(errors, Is.Empty);
        Assert.That(await TestDatabases.ScalarAsync(bench.Databases.Widgets, "SELECT count(DISTINCT message_id)::int FROM widget"), Is.EqualTo(2));
    }

    /// <summary>As after a freeze: the handler's session was opened meanwhile, and did not write.</summary>
    [ModeSource(nameof(ModesWithSessionsOfAFreeze))]
    public async Task A_session_that_was_opened_while_the_database_was_read_only_is_not_used_again(TransactionMode mode, LogFlush flush)
    {
        var isFrozen = true;
        using var host = bench.Build(
            mode,
            async (context, cancellationToken) =>
            {
                await BareBench.ExecuteAsync(context, "SELECT 1", cancellationToken);
                if (!isFrozen)
                    await BareBench.InsertRowAsync(context, cancellationToken);
            },
            configure: endpoint => endpoint.FlushLog(flush));
        await SetReadOnlyAsync("on");
        await host.StartAsync();
        await HandleOneAsync();
        await SetReadOnlyAsync("off");
        isFrozen = false;
        await HandleOneAsync();
        await host.StopAsync();

        Assert.That(await bench.QueueOf(mode).ReadErrorsAsync(CancellationToken.None), Is.Empty);
        Assert.That(await bench.Databases.CountRowsAsync(), Is.EqualTo(1));

        async Task HandleOneAsync()
        {
            await bench.QueueOf(mode).EnqueueAsync([OutgoingMessage.Create("work", new BareBench.Todo())], CancellationToken.None);
            await Eventually.HoldsAsync(async () => await bench.QueueOf(mode).CountAsync(CancellationToken.None) == 0, "the queue is empty");
        }
    }

    // The outbox writes its record before the handler runs.
    private static IEnumerable<object[]> ModesWithSessionsOfAFreeze =>
    [
        .. ReturningModes.Where(mode => mode != TransactionMode.Outbox).Select(mode => new object[] { mode, LogFlush.Every }),
        [TransactionMode.DtcOff, LogFlush.Last],
    ];

    /// <summary>Of a data source of the application, which has a pool.</summary>
    [TestCase("dtc-off")]
    [TestCase("shared")]
    public async Task A_session_that_receives_and_was_opened_while_the_database_was_read_only_is_not_used_again(string name)
    {
        var mode = TransactionMode.Parse(name);
        var database = bench.Databases.QueueOf(mode);
        await using var queues = NpgsqlDataSource.Create($"{database};Application Name=frozen");
        await using var data = NpgsqlDataSource.Create($"{bench.Databases.Widgets};Enlist=false");
        using var log = new WarningsOfAHost();
        using var host = bench.Build(
            mode, BareBench.InsertRowAsync,
            configure: endpoint => endpoint.UsePostgreSql(queues, mode.NeedsOneDatabase ? null : data),
            services: services => services.AddSingleton<ILoggerProvider>(log));
        await host.StartAsync();
        await SetReadOnlyAsync("on", database);
        await TestDatabases.ExecuteAsync(
            bench.Databases.Widgets, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'frozen' " +
            $"AND datname = '{new NpgsqlConnectionStringBuilder(database).Database}'");
        await Eventually.HoldsAsync(() => log.Count("read-only transaction") > 0, "the receive is refused");
        await SetReadOnlyAsync("off", database);
        await bench.QueueOf(mode).EnqueueAsync([OutgoingMessage.Create("work", new BareBench.Todo())], CancellationToken.None);
        await Eventually.HoldsAsync(async () => await bench.QueueOf(mode).CountAsync(CancellationToken.None) == 0, "the queue is empty");
        await host.StopAsync();

        Assert.That(await bench.QueueOf(mode).ReadErrorsAsync(CancellationToken.None), Is.Empty);
    }

    /// <summary>All handlers meet it at the same time, and each question opens a connection.</summary>
    [Test]
    public async Task All_workers_ask_it_on_one_connection()
    {
        const int workers = 8;
        var queue = bench.QueueOf(TransactionMode.DtcOff);
        await queue.EnqueueAsync([.. Enumerable.Repeat(0, workers).Select(_ => OutgoingMessage.Create("work", new BareBench.Todo()))], CancellationToken.None);
        var server = new NpgsqlConnectionStringBuilder(bench.Databases.Widgets);
        await using var proxy = new FaultProxy(server.Host!, server.Port);
        var data = new NpgsqlConnectionStringBuilder(server.ConnectionString) { Host = "127.0.0.1", Port = proxy.Port }.ConnectionString;
        var (refused, thrown, isStalled) = (0, 0, new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously));
        using var host = bench.Build(
            TransactionMode.DtcOff,
            async (context, cancellationToken) =>
            {
                if (context.Attempt > 1)
                    return;

                try
                {
                    await BareBench.ExecuteAsync(context, "SET TRANSACTION READ ONLY; CREATE TABLE never ()", cancellationToken);
                }
                catch (PostgresException)
                {
                    Interlocked.Increment(ref refused);
                    await isStalled.Task;
                    Interlocked.Increment(ref thrown);
                    throw;
                }
            },
            data,
            configure: endpoint => endpoint.LimitConcurrency(workers));
        await host.StartAsync();
        await Eventually.HoldsAsync(() => Volatile.Read(ref refused) == workers, "every handler is refused");
        var lent = proxy.Connections;
        proxy.Stall(Traffic.Both);
        isStalled.SetResult();
        await Eventually.HoldsAsync(() => Volatile.Read(ref thrown) == workers && proxy.Connections > lent, "they ask");
        var asking = proxy.Connections - lent;
        proxy.Resume(Traffic.Both);
        await Eventually.HoldsAsync(async () => await queue.CountAsync(CancellationToken.None) == 0, "the queue is empty");
        await host.StopAsync();

        Assert.That(asking, Is.EqualTo(1));
        Assert.That(await queue.ReadErrorsAsync(CancellationToken.None), Is.Empty);
    }

    [Test]
    public async Task A_sender_does_not_keep_a_session_that_was_opened_while_the_database_was_read_only()
    {
        await using var sender = new PostgreSqlMessageSender(new DatabaseAccess(bench.Databases.Queue), json: null);
        await SetReadOnlyAsync("on", bench.Databases.Queue);
        await Assert.ThatAsync(SendAsync, Throws.InstanceOf<PostgresException>());
        await SetReadOnlyAsync("off", bench.Databases.Queue);

        await Assert.ThatAsync(SendAsync, Throws.Nothing);

        Task SendAsync() => sender.SendAsync("work", new BareBench.Todo());
    }

    [ModeSource(nameof(Returning))]
    public async Task No_attempt_is_counted_and_every_message_is_handled_when_it_writes_again(string transport, TransactionMode mode)
    {
        if (TestTransport.MissingServer(transport) is { } missing)
            Assert.Ignore(missing);
        await using var broker = transport == TransportName.RabbitMq ? await TestVirtualHost.CreateAsync() : null;
        await using var queue = broker is null
            ? bench.QueueOf(mode)
            : (IMessageQueue)new RabbitMqQueue(RabbitMqAddress.Parse(broker.Address), "work");
        await queue.CreateAsync(CancellationToken.None);
        using var log = new WarningsOfAHost();
        var attempts = new List<int>();
        using var host = bench.Build(
            mode,
            async (context, cancellationToken) =>
            {
                await BareBench.ExecuteAsync(context, $"INSERT INTO widget VALUES ({Kit.Handlers.WidgetId.Next()}, '{context.MessageId}')", cancellationToken);
                lock (attempts)
                    attempts.Add(context.Attempt);
            },
            bench.Databases.Widgets + ";Pooling=false",
            configure: endpoint =>
            {
                if (broker is not null)
                    endpoint.UseRabbitMq(broker.Address, bench.Databases.Widgets + ";Pooling=false");
            },
            services: services => services.AddSingleton<ILoggerProvider>(log));
        await host.StartAsync();
        await SetReadOnlyAsync("on");
        await queue.EnqueueAsync(Enumerable.Range(0, Messages).Select(_ => OutgoingMessage.Create("work", new BareBench.Todo())), CancellationToken.None);
        await Eventually.HoldsAsync(() => log.Count("read-only transaction") >= mode.Attempts, "the refusals are logged");
        await SetReadOnlyAsync("off");
        await Eventually.HoldsAsync(async () => await queue.CountAsync(CancellationToken.None) == 0, "the queue is empty");
        await host.StopAsync();

        Assert.That(await queue.ReadErrorsAsync(CancellationToken.None), Is.Empty);
        Assert.That(attempts, Is.EqualTo(Enumerable.Repeat(1, Messages)));
    }

    [ModeSource(nameof(LentModes))]
    public async Task A_handler_that_made_its_own_transaction_read_only_has_failed(TransactionMode mode)
    {
        var errors = await bench.HandleAsync(mode, async (context, cancellationToken) =>
        {
            await BareBench.ExecuteAsync(context, "SET TRANSACTION READ ONLY", cancellationToken);
            await BareBench.InsertRowAsync(context, cancellationToken);
        });

        Assert.That(errors.Single().FailedAttempts, Is.EqualTo(mode.Attempts));
    }

    /// <summary>A message that always meets it is neither given up nor in the way of the others.</summary>
    [ModeSource(nameof(WithBatches))]
    public async Task A_message_that_meets_a_shortage_waits_while_others_are_handled(TransactionMode mode, int batch)
    {
        var poison = Guid.CreateVersion7();
        var (isShort, handled) = (true, new List<(Guid Id, int Attempt)>());
        using var host = bench.Build(
            mode,
            (context, _) =>
            {
                lock (handled)
                {
                    if (context.MessageId == poison && isShort)
                        throw new InvalidOperationException("wrapped", new PostgresException("out of shared memory", "ERROR", "ERROR", "53200"));
                    handled.Add((context.MessageId, context.Attempt));
                    return Task.CompletedTask;
                }
            },
            configure: endpoint => endpoint.ReceiveInBatches(batch));
        var queue = bench.QueueOf(mode);
        await queue.EnqueueAsync(
            Enumerable.Range(0, Messages).Select(number => OutgoingMessage.Create("work", new BareBench.Todo(), number == 0 ? poison : null)),
            CancellationToken.None);
        await host.StartAsync();
        await Eventually.HoldsAsync(() => { lock (handled) return handled.Count == Messages - 1; }, "the others are handled");
        isShort = false;
        await Eventually.HoldsAsync(async () => await queue.CountAsync(CancellationToken.None) == 0, "the queue is empty");
        await host.StopAsync();

        Assert.That(await queue.ReadErrorsAsync(CancellationToken.None), Is.Empty);
        Assert.That(handled, Has.One.EqualTo((poison, 1)));
    }

    private static IEnumerable<object[]> WithBatches =>
        [.. ReturningModes.Append(TransactionMode.Shared).Select(mode => new object[] { mode, 1 }), [TransactionMode.Shared, 3], [TransactionMode.DtcOff, 3]];

    /// <param name="value">on or off.</param>
    /// <param name="database">The widgets' when not given. It is set from the other one.</param>
    private Task SetReadOnlyAsync(string value, string? database = null) => TestDatabases.ExecuteAsync(
        database == bench.Databases.Queue ? bench.Databases.Widgets : bench.Databases.Queue,
        $"ALTER DATABASE {new NpgsqlConnectionStringBuilder(database ?? bench.Databases.Widgets).Database} SET default_transaction_read_only = {value}");
}
