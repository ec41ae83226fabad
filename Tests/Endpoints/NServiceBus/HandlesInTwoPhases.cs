using System.Collections.Concurrent;
using System.Data.Common;
using System.Diagnostics;
using System.Transactions;
using Kit.Endpoints.Bare;
using Kit.Endpoints.Cells;
using Kit.Handlers;
using Kit.Modes;
using Kit.Runner.Results.Points;
using Kit.Runner.Servers;
using Kit.Runner.Wire;
using Kit.Tests.TwoPhase;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Npgsql;
using NServiceBus;
using NServiceBus.Transport;

namespace Kit.Tests.NServiceBus;

/// <summary><c>full-dtc</c> of NServiceBus on PostgreSQL, where something goes wrong.</summary>
[Parallelizable]
public sealed class HandlesInTwoPhases
{
    private const string Queue = "phases";
    private const int Slots = 8;

    private PrivatePostgreSql server = null!;
    private TestDatabases databases = null!;
    private IMessageQueue queue = null!;

    [OneTimeSetUp]
    public async Task StartServer() => server = await ServerOfFewSlots.StartAsync(Slots);

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
        queue = new NServiceBusOnPostgreSql().OpenQueue(Queue, databases.Queue);
        await queue.CreateAsync(CancellationToken.None);
    }

    [TearDown]
    public async Task TearDown()
    {
        await queue.DisposeAsync();
        await databases.DisposeAsync();
    }

    [Test]
    public async Task Another_resource_fails_the_message_and_nothing_is_left_of_either()
    {
        var errors = await GiveUpAsync(async (message, context) =>
        {
            await InsertAsync(message, await context.GetBranchConnectionAsync());
            await using var own = new NpgsqlConnection(databases.Widgets);
            await own.OpenAsync(context.CancellationToken);
            await InsertAsync(message, own);
        });

        Assert.That(errors.Single().Reason, Does.Contain("A resource other than the lent connection"));
        Assert.That(await databases.CountRowsAsync(), Is.Zero);
        Assert.That(await databases.CountPreparedAsync(), Is.Zero);
    }

    [Test]
    public async Task A_durable_resource_fails_the_message_and_is_not_asked_to_prepare()
    {
        var durable = new Durable();

        var errors = await GiveUpAsync(async (message, context) =>
        {
            await InsertAsync(message, await context.GetBranchConnectionAsync());
            Transaction.Current!.EnlistDurable(Guid.NewGuid(), durable, EnlistmentOptions.None);
        });

        Assert.That(errors.Single().Reason, Does.Contain("A resource other than the lent connection"));
        Assert.That(durable.HasPrepared, Is.False);
        Assert.That(await databases.CountRowsAsync(), Is.Zero);
    }

    [Test]
    public async Task A_swallowed_error_fails_it()
    {
        var errors = await GiveUpAsync(async (message, context) =>
        {
            var connection = await context.GetBranchConnectionAsync();
            await InsertAsync(message, connection);
            try
            {
                await ExecuteAsync(connection, "SELECT 1 / 0");
            }
            catch (PostgresException)
            {
                // Swallowed: the transaction has failed.
            }
        });

        Assert.That(errors.Single().Reason, Does.Contain("25P02"));
        Assert.That(await databases.CountRowsAsync(), Is.Zero);
    }

    /// <summary>Nothing else would fail, and the message would end without its row.</summary>
    [TestCase(true)]
    [TestCase(false)]
    public async Task A_refused_connection_is_no_success_and_no_attempt(bool isSwallowed)
    {
        var refused = 0;
        using var host = await StartAsync(
            async (message, context) =>
            {
                try
                {
                    await InsertAsync(message, await context.GetBranchConnectionAsync());
                }
                catch (PostgresException)
                {
                    Interlocked.Increment(ref refused);
                    if (!isSwallowed)
                        throw;
                }
            },
            transport: new TwoPhasePostgreSqlTransport(databases.Queue, databases.Widgets + ";Pooling=false"));
        await databases.AllowConnectionsToWidgetsAsync(false);
        await EnqueueAsync();
        await Eventually.HoldsAsync(() => Volatile.Read(ref refused) > TransactionMode.FullDtc.Attempts, "it was refused more often than a message may fail");
        await databases.AllowConnectionsToWidgetsAsync(true);
        await Eventually.HoldsAsync(async () => await databases.CountRowsAsync() == 1, "the message is handled");
        await host.StopAsync();

        Assert.That(await ReadErrorsAsync(), Is.Empty);
    }

    /// <summary>It has no connection left for one that the handler opens itself.</summary>
    [Test]
    public async Task A_shortage_of_the_server_is_no_attempt()
    {
        await TestDatabases.ExecuteAsync(databases.Queue, "CREATE ROLE limited LOGIN PASSWORD 'limited' CONNECTION LIMIT 0");
        var own = new NpgsqlConnectionStringBuilder(databases.Widgets) { Username = "limited", Password = "limited", Pooling = false, Enlist = false };
        var failed = new ConcurrentBag<string?>();
        using var host = await StartAsync(async (message, context) =>
        {
            await InsertAsync(message, await context.GetBranchConnectionAsync());
            if (failed.Count > TransactionMode.FullDtc.Attempts)
                return;
            try
            {
                await using var other = new NpgsqlConnection(own.ConnectionString);
                await other.OpenAsync(context.CancellationToken);
            }
            catch (PostgresException refused)
            {
                failed.Add(refused.SqlState);
                throw;
            }
        });
        await EnqueueAsync();
        await Eventually.HoldsAsync(async () => await databases.CountRowsAsync() == 1 || (await ReadErrorsAsync()).Count > 0, "it is handled, or given up");
        await host.StopAsync();

        Assert.That(failed, Has.All.EqualTo(PostgresErrorCodes.TooManyConnections));
        Assert.That(await ReadErrorsAsync(), Is.Empty);
    }

    [Test]
    public async Task Committing_the_branch_and_beginning_another_fails_it()
    {
        var errors = await GiveUpAsync(async (message, context) =>
        {
            var connection = await context.GetBranchConnectionAsync();
            await InsertAsync(message, connection);
            await ExecuteAsync(connection, "COMMIT AND CHAIN");
        });

        Assert.That(errors.Single().Reason, Does.Contain("ended the transaction that the endpoint had lent it"));
        Assert.That(await databases.CountRowsAsync(), Is.EqualTo(TransactionMode.FullDtc.Attempts), "what the handler committed itself stays");
        Assert.That(await databases.CountPreparedAsync(), Is.Zero);
    }

    /// <summary>The queue's server refuses the commit that decides, after the branch was prepared.</summary>
    [Test]
    public async Task A_receive_that_cannot_commit_takes_the_rows_with_it()
    {
        await TestDatabases.ExecuteAsync(databases.Queue, "CREATE TABLE once (id int UNIQUE DEFERRABLE INITIALLY DEFERRED)");
        var outcomes = new ConcurrentBag<TransactionStatus>();

        var errors = await GiveUpAsync(async (message, context) =>
        {
            Transaction.Current!.TransactionCompleted += (_, completed) => outcomes.Add(completed.Transaction!.TransactionInformation.Status);
            await InsertAsync(message, await context.GetBranchConnectionAsync());
            await ExecuteAsync(context.GetReceiveTransaction().Connection!, "INSERT INTO once VALUES (1), (1)");
        });

        Assert.That(errors.Single().Reason, Does.Contain("23505"));
        // The transport counts this failure when the receive is rolled back: the other receiver can have the message once more before that.
        Assert.That(outcomes, Has.Count.InRange(TransactionMode.FullDtc.Attempts, TransactionMode.FullDtc.Attempts + 1));
        Assert.That(outcomes, Has.All.EqualTo(TransactionStatus.Aborted));
        Assert.That(await databases.CountRowsAsync(), Is.Zero);
        Assert.That(await databases.CountPreparedAsync(), Is.Zero);
    }

    [Test]
    public async Task The_ambient_transaction_reports_committed_only_after_the_receive()
    {
        var told = new TaskCompletionSource<(TransactionStatus Status, long Waiting)>();
        using var host = await StartAsync(async (message, context) =>
        {
            Transaction.Current!.TransactionCompleted += (_, completed) => told.TrySetResult(
                (completed.Transaction!.TransactionInformation.Status, queue.CountAsync(CancellationToken.None).GetAwaiter().GetResult()));
            await InsertAsync(message, await context.GetBranchConnectionAsync());
        });
        await EnqueueAsync();

        var (status, waiting) = await told.Task.WaitAsync(Eventually.Limit);

        Assert.That(status, Is.EqualTo(TransactionStatus.Committed));
        Assert.That(waiting, Is.Zero, "messages in the queue at that moment");
        await Eventually.HoldsAsync(async () => await databases.CountRowsAsync() == 1, "its row is there");
        await host.StopAsync();
    }

    [Test]
    public async Task While_others_hold_all_slots_messages_wait_and_no_attempt_is_counted([Values] bool canBeCounted)
    {
        for (var held = 0; held < Slots; held++)
            await PrepareAsync($"another application/{held}");
        var attempts = 0;
        using var host = await StartAsync(async (message, context) =>
        {
            Interlocked.Increment(ref attempts);
            await InsertAsync(message, await context.GetBranchConnectionAsync());
        });
        await databases.AllowConnectionsToWidgetsAsync(canBeCounted);
        await EnqueueAsync();

        var gaveUp = await Eventually.IsSoAsync(async () => (await ReadErrorsAsync()).Count > 0, TimeSpan.FromSeconds(3));
        var whileWaiting = Volatile.Read(ref attempts);
        await databases.AllowConnectionsToWidgetsAsync(true);
        await databases.RollBackPreparedAsync();
        await Eventually.HoldsAsync(async () => await databases.CountRowsAsync() == 1, "the message is handled");

        await host.StopAsync();
        Assert.That(gaveUp, Is.False, "a dead letter");
        Assert.That(whileWaiting, Is.Zero, "attempts while no slot was free");
        Assert.That(await ReadErrorsAsync(), Is.Empty);
    }

    /// <summary>The last slots go while the handler runs, more often than a message has attempts.</summary>
    [Test]
    public async Task A_refused_prepare_undoes_the_handler_and_its_sends_and_counts_no_attempt()
    {
        var refusals = TransactionMode.FullDtc.Attempts + 1;
        var attempts = 0;
        using var next = new SemaphoreSlim(1);
        using var host = await StartAsync(async (message, context) =>
        {
            await next.WaitAsync(context.CancellationToken);
            await InsertAsync(message, await context.GetBranchConnectionAsync());
            if (Interlocked.Increment(ref attempts) > refusals)
                return;

            await context.SendLocal(new BuildWidget(message.MessageId));
            using var outside = new TransactionScope(TransactionScopeOption.Suppress, TransactionScopeAsyncFlowOption.Enabled);
            for (var held = 0; held < Slots; held++)
                await PrepareAsync($"another application/{held}");
        });
        await EnqueueAsync();

        for (var refused = 1; refused <= refusals; refused++)
        {
            await Eventually.HoldsAsync(async () => await databases.CountPreparedAsync() == Slots, "nothing is left to prepare with");
            await Eventually.HoldsAsync(async () => await CountUnlockedAsync() == 1, "the message is back in its queue");
            Assert.That(await queue.CountAsync(CancellationToken.None), Is.EqualTo(1), "the message, and nothing that its handler sent");
            Assert.That(await databases.CountRowsAsync(), Is.Zero);
            await databases.RollBackPreparedAsync();
            next.Release();
        }

        await Eventually.HoldsAsync(async () => await databases.CountRowsAsync() == 1, "the message is handled");
        await host.StopAsync();
        Assert.That(attempts, Is.EqualTo(refusals + 1));
        Assert.That(await ReadErrorsAsync(), Is.Empty);
        Assert.That(await queue.CountAsync(CancellationToken.None), Is.Zero);
    }

    [Test]
    public async Task A_receive_that_is_cut_before_its_handler_is_no_attempt()
    {
        await using var queues = new GatedPostgreSql(databases.Queue);
        var attempts = 0;
        using var host = await StartAsync(
            async (message, context) =>
            {
                await InsertAsync(message, await context.GetBranchConnectionAsync());
                if (Interlocked.Increment(ref attempts) < TransactionMode.FullDtc.Attempts)
                    throw new InvalidOperationException("The test wants this attempt to fail.");
            },
            transport: new TwoPhasePostgreSqlTransport(queues.Through, databases.Widgets));
        queues.Arm(
            new MarkedRequest { Text = "SELECT pg_current_xact_id(), extract(epoch FROM pg_postmaster_start_time())::text" }, PointWay.CutBefore);

        await EnqueueAsync();
        await Eventually.HoldsAsync(
            async () => await databases.CountRowsAsync() == 1 || (await ReadErrorsAsync()).Count > 0, "the message is handled, or given up");
        await host.StopAsync();

        Assert.That(queues.HasFired, Is.True);
        Assert.That(await ReadErrorsAsync(), Is.Empty);
        Assert.That(attempts, Is.EqualTo(TransactionMode.FullDtc.Attempts));
    }

    /// <summary>Nothing that a server refuses: no text is where one is expected. The message would be received again at once, without end.</summary>
    [Test]
    public async Task A_failure_before_the_handler_that_nobody_expects_is_no_attempt_and_is_not_repeated_at_once()
    {
        const int Times = 6;
        using var host = await StartAsync(
            async (message, context) => await InsertAsync(message, await context.GetBranchConnectionAsync()),
            transport: new TwoPhasePostgreSqlTransport(databases.Queue + ";Search Path=public,pg_catalog", databases.Widgets));
        await TestDatabases.ExecuteAsync(
            databases.Queue,
            "CREATE SEQUENCE asked; CREATE FUNCTION public.pg_postmaster_start_time() RETURNS timestamptz LANGUAGE sql " +
            "AS 'SELECT NULL::timestamptz FROM nextval(''asked'')'");
        await EnqueueAsync();
        await AskedAsync(1);
        var watch = Stopwatch.StartNew();
        await AskedAsync(Times);
        var elapsed = watch.Elapsed;
        await TestDatabases.ExecuteAsync(databases.Queue, "DROP FUNCTION public.pg_postmaster_start_time()");
        await Eventually.HoldsAsync(async () => await databases.CountRowsAsync() == 1 || (await ReadErrorsAsync()).Count > 0, "the message is handled");
        await host.StopAsync();

        Assert.That(await ReadErrorsAsync(), Is.Empty);
        // When the first was seen, the second could be near.
        Assert.That(elapsed, Is.GreaterThan((Times - 2) * TimeSpan.FromMilliseconds(200)));

        Task AskedAsync(int times) => Eventually.HoldsAsync(
            async () => await TestDatabases.ScalarAsync(databases.Queue, "SELECT CASE WHEN is_called THEN last_value ELSE 0 END::int FROM asked") >= times,
            "it is asked again");
    }

    /// <summary>The copy is written before. The transport would handle the message in the same transaction, and commit both.</summary>
    [Test]
    public async Task A_callback_that_throws_when_a_message_was_moved_takes_that_back_and_it_is_handled_once_more()
    {
        var (attempts, moved) = (0, 0);
        using var host = await StartAsync(
            async (message, context) =>
            {
                await InsertAsync(message, await context.GetBranchConnectionAsync());
                if (Interlocked.Increment(ref attempts) <= TransactionMode.FullDtc.Attempts)
                    throw new InvalidOperationException("The test wants this attempt to fail.");
            },
            configure: endpoint =>
            {
                endpoint.DefineCriticalErrorAction((_, _) => Task.CompletedTask);
                endpoint.Recoverability().Failed(failed => failed.OnMessageSentToErrorQueue(
                    (_, _) => Interlocked.Increment(ref moved) == 1 ? throw new InvalidOperationException("The alert cannot be sent.") : Task.CompletedTask));
            });
        await EnqueueAsync();
        await Eventually.HoldsAsync(async () => await databases.CountRowsAsync() == 1, "the message is handled");
        await host.StopAsync();

        Assert.That(await ReadErrorsAsync(), Is.Empty);
        Assert.That((attempts, moved), Is.EqualTo((TransactionMode.FullDtc.Attempts + 1, 1)));
    }

    /// <summary>The transport takes that for another failure of the message.</summary>
    [Test]
    public async Task A_receive_that_is_cut_while_its_message_is_moved_keeps_the_attempts_and_the_reason()
    {
        var (attempts, moved) = (0, 0);
        using var host = await StartAsync(
            (_, _) =>
            {
                Interlocked.Increment(ref attempts);
                throw new InvalidOperationException("The test wants this attempt to fail.");
            },
            configure: endpoint => endpoint.Recoverability().Failed(failed => failed.OnMessageSentToErrorQueue(async (_, _) =>
            {
                if (Interlocked.Increment(ref moved) == 1)
                {
                    await TestDatabases.ExecuteAsync(
                        databases.Queue,
                        "SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity " +
                        "WHERE datname = current_database() AND state = 'idle in transaction'");
                }
            })));
        await EnqueueAsync();
        await Eventually.HoldsAsync(async () => (await ReadErrorsAsync()).Count > 0, "the message is given up");
        await host.StopAsync();

        Assert.That((await ReadErrorsAsync()).Single().Reason, Does.Contain("The test wants this attempt to fail."));
        Assert.That((attempts, moved), Is.EqualTo((TransactionMode.FullDtc.Attempts, 2)));
    }

    /// <summary>NServiceBus's transport counts a failure, and again that it cannot roll back.</summary>
    [TestCase("full-dtc", 3)]
    [TestCase("scope-off", 2)]
    public async Task A_receive_that_is_cut_in_its_handler_is_one_attempt_and_in_NServiceBuss_own_modes_two(string mode, int handled)
    {
        var attempts = 0;

        await GiveUpAsync(
            async (_, context) =>
            {
                Interlocked.Increment(ref attempts);
                var receive = (NpgsqlConnection)context.GetReceiveTransaction().Connection!;
                await TestDatabases.ExecuteAsync(databases.Queue, $"SELECT pg_terminate_backend({receive.ProcessID})");
                throw new InvalidOperationException("The test wants this attempt to fail.");
            },
            TransactionMode.Parse(mode),
            mode == TransactionMode.FullDtc.Name ? null : new PostgreSqlTransport(databases.Queue),
            concurrency: 1);

        Assert.That(attempts, Is.EqualTo(handled));
    }

    /// <summary>The transport cannot commit, and the driver reports the closing only once: before the endpoint listens for it.</summary>
    [Test]
    public async Task A_handler_that_closes_the_receive_loses_its_rows_and_the_endpoint_stops()
    {
        var errors = await GiveUpAsync(async (message, context) =>
        {
            await InsertAsync(message, await context.GetBranchConnectionAsync());
            await context.GetReceiveTransaction().Connection!.CloseAsync();
        });

        Assert.That(errors, Has.Count.EqualTo(1));
        Assert.That(await databases.CountRowsAsync(), Is.Zero);
        Assert.That(await databases.CountPreparedAsync(), Is.Zero);
    }

    [Test]
    public async Task More_concurrency_than_the_server_has_slots_for_is_refused()
    {
        await Assert.ThatAsync(
            () => StartAsync(Nothing, concurrency: Slots),
            Throws.InvalidOperationException.With.Message.Contains("needs max_prepared_transactions of at least 18"));
    }

    [Test]
    public async Task A_pool_that_is_smaller_than_the_concurrency_is_refused()
    {
        var small = new NpgsqlConnectionStringBuilder(databases.Widgets) { Pooling = true, MaxPoolSize = 1 }.ConnectionString;

        await Assert.ThatAsync(
            () => StartAsync(Nothing, transport: new TwoPhasePostgreSqlTransport(databases.Queue, small)),
            Throws.InvalidOperationException.With.Message.Contains("needs a Maximum Pool Size of at least 2"));
    }

    /// <summary>Each at a time, and one that looks for messages.</summary>
    [Test]
    public async Task A_pool_of_the_queues_that_is_too_small_for_all_receivers_together_is_refused()
    {
        var small = new NpgsqlConnectionStringBuilder(databases.Queue) { Pooling = true, MaxPoolSize = 5 }.ConnectionString;

        await Assert.ThatAsync(
            () => StartAsync(
                Nothing, transport: new TwoPhasePostgreSqlTransport(small, databases.Widgets),
                configure: endpoint => endpoint.MakeInstanceUniquelyAddressable("1")),
            Throws.InvalidOperationException.With.Message.Contains("needs a Maximum Pool Size of at least 6"));
    }

    [Test]
    public async Task A_list_of_hosts_is_refused()
    {
        var several = $"{new NpgsqlConnectionStringBuilder(databases.Widgets) { Host = "127.0.0.1,localhost" }};Target Session Attributes=primary";

        await Assert.ThatAsync(
            () => StartAsync(Nothing, transport: new TwoPhasePostgreSqlTransport(databases.Queue, several)),
            Throws.InvalidOperationException.With.Message.Contains("list of hosts"));
    }

    [Test]
    public async Task Data_on_a_copy_of_the_server_is_refused()
    {
        await using var clone = await PrivateClone.OfAsync(server);

        await Assert.ThatAsync(
            () => StartAsync(Nothing, transport: new TwoPhasePostgreSqlTransport(databases.Queue, clone.ConnectionTo(databases.Widgets))),
            Throws.InvalidOperationException.With.Message.Contains("on a PostgreSQL server and on a copy of it"));
    }

    [Test]
    public async Task In_another_mode_no_branch_is_lent()
    {
        var errors = await GiveUpAsync(
            async (message, context) => await InsertAsync(message, await context.GetBranchConnectionAsync()),
            TransactionMode.ScopeOff, new PostgreSqlTransport(databases.Queue));

        Assert.That(errors.Single().Reason, Does.Contain("The message was not received in full-dtc"));
    }

    /// <summary>The statement that checks the server fails with the same SQLSTATE.</summary>
    [Test]
    public async Task A_division_by_zero_in_the_handler_counts_as_an_attempt()
    {
        var errors = await GiveUpAsync(async (_, context) => await ExecuteAsync(await context.GetBranchConnectionAsync(), "SELECT 1 / 0"));

        Assert.That(errors.Single().Reason, Does.Contain("22012"));
    }

    [TestCase("dtc-off")]
    [TestCase("shared")]
    [TestCase("full-dtc-promoted")]
    public void Another_mode_is_refused_and_the_transport_for_it_is_named(string mode) => Assert.That(
        () => TestEndpoint.Configure(Queue, new TwoPhasePostgreSqlTransport("Host=nowhere"), TransactionMode.Parse(mode)),
        Throws.TypeOf<NotSupportedException>().With.Message.Contains("is for full-dtc; use PostgreSqlTransport in the other modes"));

    /// <summary>Its receive would not have the mode's isolation and time-out, and NServiceBus would retry as it likes.</summary>
    [Test]
    public async Task Without_the_modes_settings_it_does_not_start()
    {
        var application = Host.CreateEmptyApplicationBuilder(settings: null);
        var endpoint = new EndpointConfiguration(Queue);
        endpoint.UseTransport(new TwoPhasePostgreSqlTransport(databases.Queue, databases.Widgets));
        endpoint.UseSerialization<SystemJsonSerializer>();
        endpoint.AssemblyScanner().Disable = true;
        application.Services.AddNServiceBusEndpoint(endpoint);
        using var host = application.Build();

        await Assert.ThatAsync(
            () => host.StartAsync(),
            Throws.InvalidOperationException.With.Message.Contains("Call UseTransactionMode(transport, TransactionMode.FullDtc)"));
    }

    [Test]
    public void A_recovery_interval_of_zero_is_refused() => Assert.That(
        () => new TwoPhasePostgreSqlTransport("Host=nowhere") { RecoveryInterval = TimeSpan.Zero },
        Throws.TypeOf<ArgumentOutOfRangeException>());

    /// <summary>As in a freeze. The pool would lend the session for every attempt.</summary>
    [Test]
    public async Task A_session_that_was_opened_while_the_database_was_read_only_is_not_lent_again()
    {
        var pooled = new NpgsqlConnectionStringBuilder(databases.Widgets) { Pooling = true };
        await TestDatabases.ExecuteAsync(databases.Queue, $"ALTER DATABASE {pooled.Database} SET default_transaction_read_only = on");
        using var host = await StartAsync(
            async (message, context) => await InsertAsync(message, await context.GetBranchConnectionAsync()),
            transport: new TwoPhasePostgreSqlTransport(databases.Queue, pooled.ConnectionString));
        await TestDatabases.ExecuteAsync(databases.Queue, $"ALTER DATABASE {pooled.Database} RESET default_transaction_read_only");
        await EnqueueAsync();
        await Eventually.HoldsAsync(
            async () => await databases.CountRowsAsync() == 1 || (await ReadErrorsAsync()).Count > 0, "the message is handled, or given up");
        await host.StopAsync();

        Assert.That(await ReadErrorsAsync(), Is.Empty);
    }

    private static Task Nothing(BuildWidget message, IMessageHandlerContext context) => Task.CompletedTask;

    private async Task<IReadOnlyList<DeadLetter>> GiveUpAsync(
        Handle handle, TransactionMode? mode = null, TransportDefinition? transport = null, int concurrency = 2)
    {
        using var host = await StartAsync(handle, concurrency, mode, transport);
        await EnqueueAsync();
        await Eventually.HoldsAsync(async () => (await ReadErrorsAsync()).Count > 0, "the message is given up");
        await host.StopAsync();
        return await ReadErrorsAsync();
    }

    private Task<IReadOnlyList<DeadLetter>> ReadErrorsAsync() => queue.ReadErrorsAsync(CancellationToken.None);

    private Task<int> CountUnlockedAsync() => TestDatabases.ScalarAsync(
        databases.Queue, $"SELECT count(*)::int FROM (SELECT FROM {Queue} FOR UPDATE SKIP LOCKED) AS unlocked");

    private Task EnqueueAsync() => queue.PreloadAsync([new BuildWidget(Guid.CreateVersion7())], CancellationToken.None);

    private async Task<IHost> StartAsync(
        Handle handle, int concurrency = 2, TransactionMode? mode = null, TransportDefinition? transport = null,
        Action<EndpointConfiguration>? configure = null)
    {
        var application = Host.CreateEmptyApplicationBuilder(settings: null);
        application.Services.AddSingleton(handle);
        var endpoint = TestEndpoint.Configure(
            Queue, transport ?? new TwoPhasePostgreSqlTransport(databases.Queue, databases.Widgets), mode ?? TransactionMode.FullDtc);
        endpoint.LimitMessageProcessingConcurrencyTo(concurrency);
        endpoint.AddHandler<Handler>();
        configure?.Invoke(endpoint);
        application.Services.AddNServiceBusEndpoint(endpoint);
        var host = application.Build();
        await host.StartAsync();
        return host;
    }

    private async Task PrepareAsync(string globalId)
    {
        await using var connection = new NpgsqlConnection(databases.Widgets);
        await connection.OpenAsync();
        await ExecuteAsync(connection, "BEGIN");
        await ExecuteAsync(connection, $"PREPARE TRANSACTION '{globalId}'");
    }

    private static Task InsertAsync(BuildWidget message, DbConnection connection) =>
        ExecuteAsync(connection, $"INSERT INTO widget (id, message_id) VALUES ({WidgetId.Next()}, '{message.MessageId}')");

    private static async Task ExecuteAsync(DbConnection connection, string statement)
    {
        await using var command = connection.CreateCommand();
        command.CommandText = statement;
        await command.ExecuteNonQueryAsync();
    }

    /// <summary>What the endpoint's handler does.</summary>
    internal delegate Task Handle(BuildWidget message, IMessageHandlerContext context);

    // Not private: NServiceBus generates code that names it.
    internal sealed class Handler(Handle handle) : IHandleMessages<BuildWidget>
    {
        public Task Handle(BuildWidget message, IMessageHandlerContext context) => handle(message, context);
    }
}
