using System.Collections.Concurrent;
using Kit.Endpoints.Bare;
using Kit.Endpoints.Bare.PostgreSql;
using Kit.Modes;
using Kit.Runner.Wire;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;
using Npgsql;

namespace Kit.Tests.Bare;

/// <summary>
/// The next message is received in the round trip that commits the last one, in each mode that has this: what happens when one half of that round trip
/// fails, or the message is not handled after all.
/// </summary>
[Parallelizable]
public sealed class MessagesReceivedAhead : ManyMessages
{
    private static IEnumerable<TransactionMode> Modes =>
        BareBench.Modes.Where(mode => PostgreSqlSupport.ReceivingAhead(mode, LogFlush.Every, batchSize: 1).IsSupported);

    /// <summary>Those in which the handler's rows have a transaction.</summary>
    private static IEnumerable<TransactionMode> WithTransaction => Modes.Where(mode => mode != TransactionMode.ScopeOff);

    protected override void Configure(BareEndpointBuilder endpoint) => endpoint.ReceiveAhead();

    [ModeSource(nameof(Modes))]
    public Task Each_is_handled_once_and_in_order(TransactionMode mode) => HandlesEachOnceInOrderAsync(mode);

    [ModeSource(nameof(Modes))]
    public async Task Each_sends_once(TransactionMode mode)
    {
        await using var sink = new PostgreSqlQueue(Bench.Databases.QueueOf(mode), "sink");
        await sink.CreateAsync(CancellationToken.None);

        var errors = await HandleAsync(mode, async (context, cancellationToken) =>
        {
            await InsertAsync(context, cancellationToken);
            await context.SendAsync("sink", "an invoice", context.MessageId, cancellationToken: cancellationToken);
        });

        Assert.That(errors, Is.Empty);
        await HasRowsAsync();
        Assert.That(await sink.ReadMessagesAsync(CancellationToken.None), Is.EqualTo(Ids));
    }

    /// <summary>One round trip fewer for each message, counted on the wire.</summary>
    [TestCase("shared", 2)]
    [TestCase("scope-off", 2)]
    [TestCase("dtc-off", 3)]
    public async Task A_message_takes_one_round_trip_less(string name, int expected)
    {
        var mode = TransactionMode.Parse(name);
        var (apart, ahead) = (await CountRoundTripsAsync(mode, isAhead: false), await CountRoundTripsAsync(mode, isAhead: true));

        // What the endpoint asks at its start and when its queue is empty does not depend on the number of messages.
        Assert.That(ahead, Is.EqualTo(expected));
        Assert.That(apart, Is.EqualTo(expected + 1));
    }

    [ModeSource(nameof(Modes))]
    public Task One_that_throws_is_retried_and_given_up_alone(TransactionMode mode) => GivesUpOneAloneAsync(
        mode, rows: mode == TransactionMode.ScopeOff ? mode.Attempts : 0, (_, _) => throw new InvalidOperationException("no such widget"));

    /// <summary>The send fails the receive's own transaction, which is rolled back, and the attempt is counted in another.</summary>
    [ModeSource(nameof(Modes))]
    public async Task One_that_sends_to_no_queue_is_given_up_alone(TransactionMode mode)
    {
        var attempts = new ConcurrentQueue<(Guid, int)>();

        var errors = await HandleAsync(mode, async (context, cancellationToken) =>
        {
            attempts.Enqueue((context.MessageId, context.Attempt));
            await InsertAsync(context, cancellationToken);
            if (context.MessageId == Misbehaver)
                await context.SendAsync("nowhere", "an invoice", cancellationToken: cancellationToken);
        });

        IsGivenUpAlone(errors, mode.Attempts);
        Assert.That(
            attempts.Where(attempt => attempt.Item1 == Misbehaver).Select(attempt => attempt.Item2), Is.EqualTo(Enumerable.Range(1, mode.Attempts)));
        await HasRowsAsync(mode == TransactionMode.Shared ? 0 : mode.Attempts);
    }

    [ModeSource(nameof(WithTransaction))]
    public Task One_that_swallows_an_error_of_the_database_is_given_up_alone(TransactionMode mode) =>
        GivesUpOneAloneAsync(mode, rows: 0, SwallowErrorAsync);

    /// <summary>A deferred constraint of the handler's rows: in <c>shared</c> it fails the commit that also receives.</summary>
    [ModeSource(nameof(WithTransaction))]
    public async Task One_that_fails_the_commit_is_counted_and_the_next_is_not(TransactionMode mode)
    {
        await TestDatabases.ExecuteAsync(
            Bench.Databases.Widgets,
            "CREATE TABLE part (id integer PRIMARY KEY); CREATE TABLE needs (part integer REFERENCES part DEFERRABLE INITIALLY DEFERRED)");
        var attempts = new ConcurrentQueue<(Guid, int)>();

        var errors = await HandleAsync(mode, async (context, cancellationToken) =>
        {
            attempts.Enqueue((context.MessageId, context.Attempt));
            await InsertAsync(context, cancellationToken);
            if (context.MessageId == Misbehaver)
                await ExecuteAsync(context, "INSERT INTO needs VALUES (1)", cancellationToken);
        });

        IsGivenUpAlone(errors, mode.Attempts);
        await HasRowsAsync(0);
        Assert.That(attempts.Where(attempt => attempt.Item2 > 1).Select(attempt => attempt.Item1), Is.All.EqualTo(Misbehaver));
    }

    /// <summary>The handler ends the session that received; the attempt is counted on a session that receives nothing.</summary>
    [ModeSource(nameof(Modes))]
    public async Task One_that_ends_its_session_is_counted_once_for_each_attempt(TransactionMode mode)
    {
        var attempts = new ConcurrentQueue<(Guid, int)>();

        var errors = await HandleAsync(mode, async (context, cancellationToken) =>
        {
            attempts.Enqueue((context.MessageId, context.Attempt));
            await InsertAsync(context, cancellationToken);
            if (context.MessageId == Misbehaver)
                await Bench.Databases.TerminateSessionsInTransactionAsync(mode.NeedsOneDatabase ? "_widgets" : "_queue");
        });

        IsGivenUpAlone(errors, mode.Attempts);
        Assert.That(
            attempts.Where(attempt => attempt.Item1 == Misbehaver).Select(attempt => attempt.Item2), Is.EqualTo(Enumerable.Range(1, mode.Attempts)));
        Assert.That(attempts.Where(attempt => attempt.Item1 != Misbehaver).Select(attempt => attempt.Item2), Is.All.EqualTo(1));
    }

    /// <summary>What the handler was lent is not what the next message is received on.</summary>
    [TestCase("COMMIT")]
    [TestCase("ROLLBACK")]
    [TestCase(null, Description = "It closes the connection.")]
    public async Task In_shared_one_that_ends_the_transaction_harms_no_other(string? statement)
    {
        await HandleAsync(TransactionMode.Shared, async (context, cancellationToken) =>
        {
            await InsertAsync(context, cancellationToken);
            if (context.MessageId != Misbehaver)
                return;
            if (statement is null)
                await (await context.GetConnectionAsync(cancellationToken)).CloseAsync();
            else
                await ExecuteAsync(context, statement, cancellationToken);
        });

        var rows = await Bench.Databases.ReadRowsByMessageAsync();
        Assert.That(rows.Where(row => row.Key != Misbehaver).Select(row => row.Value), Is.All.EqualTo(1).And.Exactly(Messages - 1).Items);
    }

    /// <summary>The commit has succeeded when the receive behind it fails: the message is not handled again.</summary>
    [ModeSource(nameof(Modes))]
    public async Task A_receive_that_fails_is_not_taken_for_a_commit_that_failed(TransactionMode mode)
    {
        var handled = new ConcurrentQueue<Guid>();
        var queues = Bench.Databases.QueueOf(mode);
        await TestDatabases.ExecuteAsync(
            queues,
            """
            CREATE TABLE refused (message_id uuid);
            CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$
            BEGIN
                IF EXISTS (SELECT FROM refused WHERE message_id = OLD.message_id) THEN RAISE 'not now'; END IF;
                RETURN OLD;
            END $$;
            CREATE TRIGGER refuse BEFORE DELETE ON work FOR EACH ROW EXECUTE FUNCTION refuse()
            """);
        var letGo = Task.CompletedTask;

        var errors = await HandleAsync(mode, async (context, cancellationToken) =>
        {
            handled.Enqueue(context.MessageId);
            await InsertAsync(context, cancellationToken);
            if (context.MessageId != Misbehaver)
                return;
            await TestDatabases.ExecuteAsync(queues, $"INSERT INTO refused VALUES ('{Ids[Misbehaving + 1]}')");
            letGo = LetGoAsync(queues);
        });

        await letGo;
        Assert.That(errors, Is.Empty);
        Assert.That(handled, Is.EqualTo(Ids), "each once");
        await HasRowsAsync();
    }

    [ModeSource(nameof(Modes))]
    public async Task What_was_received_and_not_handled_is_back_without_an_attempt(TransactionMode mode)
    {
        var queue = Bench.QueueOf(mode);
        await queue.EnqueueAsync(Ids.Select(id => OutgoingMessage.Create("work", new BareBench.Todo(), id)), CancellationToken.None);
        var (stop, isStopping) = (new TaskCompletionSource(), new TaskCompletionSource());
        var attempts = new ConcurrentDictionary<Guid, int>();
        Work work = async (context, cancellationToken) =>
        {
            attempts[context.MessageId] = context.Attempt;
            await InsertAsync(context, cancellationToken);
            if (context.MessageId != Misbehaver)
                return;
            stop.TrySetResult();
            // Otherwise a fast worker could have handled the others by then.
            await isStopping.Task;
        };
        using (var host = Bench.Build(mode, work, configure: Configure))
        {
            await host.StartAsync();
            await stop.Task.WaitAsync(Eventually.Limit);
            var stopped = host.StopAsync();
            isStopping.SetResult();
            await stopped;
        }

        var left = await queue.ReadMessagesAsync(CancellationToken.None);
        Assert.That(left, Is.EqualTo(Ids.Skip(Messages - left.Count)).And.Not.Empty, "all that no handler has begun, at their places");

        using (var host = Bench.Build(mode, work, configure: Configure))
        {
            await host.StartAsync();
            await Eventually.HoldsAsync(async () => await queue.CountAsync(CancellationToken.None) == 0, "the queue is empty");
            await host.StopAsync();
        }

        await HasRowsAsync();
        Assert.That(attempts.Values, Is.All.EqualTo(1));
    }

    [ModeSource(nameof(Modes))]
    public async Task An_idle_worker_has_no_transaction_open(TransactionMode mode)
    {
        var database = new NpgsqlConnectionStringBuilder(Bench.Databases.QueueOf(mode)).Database;
        var queue = Bench.QueueOf(mode);
        using var warnings = new WarningsOfAHost();
        using var host = Bench.Build(mode, InsertAsync, configure: Configure, services: services => services.AddLogging(log => log.AddProvider(warnings)));
        await host.StartAsync();
        await queue.EnqueueAsync(Ids.Select(id => OutgoingMessage.Create("work", new BareBench.Todo(), id)), CancellationToken.None);
        await Eventually.HoldsAsync(async () => await queue.CountAsync(CancellationToken.None) == 0, "the queue is empty");

        await Eventually.HoldsAsync(
            async () => await TestDatabases.ScalarAsync(
                Bench.Databases.Queue,
                $"SELECT count(*)::int FROM pg_stat_activity WHERE datname = '{database}' AND state LIKE 'idle in transaction%' " +
                "AND state_change < clock_timestamp() - interval '100 ms'") == 0,
            "no session waits in a transaction");
        await host.StopAsync();
        Assert.That(warnings.Lines, Is.Empty, "and no session had to be opened again");
    }

    [TestCase("full-dtc", "the second phase begins")]
    [TestCase("full-dtc-waiting", "the second phase begins")]
    [TestCase("outbox", "forgets the sends")]
    [TestCase("transactions-off", "one more that a crash loses")]
    [TestCase("npgsql-scope", "the driver commits the receive")]
    public void A_mode_without_it_is_refused(string mode, string reason) => IsRefused(TransactionMode.Parse(mode), reason);

    [Test]
    public void Batches_are_refused() => IsRefused(TransactionMode.Shared, "use batches or this", endpoint => endpoint.ReceiveInBatches(10));

    [Test]
    public void Fewer_flushes_are_refused() => IsRefused(TransactionMode.Shared, "use flush 'every'", endpoint => endpoint.FlushLog(LogFlush.None));

    [Test]
    public void Another_transport_is_refused() => IsRefused(
        TransactionMode.DtcOff, OnlyOnPostgreSql.Ahead.Because!, endpoint => endpoint.UseRabbitMq("amqp://127.0.0.1:9", Bench.Databases.Widgets));

    private static async Task LetGoAsync(string database)
    {
        await Task.Delay(TimeSpan.FromMilliseconds(500));
        await TestDatabases.ExecuteAsync(database, "TRUNCATE refused");
    }

    private void IsRefused(TransactionMode mode, string reason, Action<BareEndpointBuilder>? configure = null)
    {
        using var host = Bench.Build(mode, (_, _) => Task.CompletedTask, configure: endpoint =>
        {
            Configure(endpoint);
            configure?.Invoke(endpoint);
        });

        Assert.That(() => host.StartAsync(), Throws.TypeOf<NotSupportedException>().With.Message.Contains(reason));
    }

    /// <summary>From one handler's call to the next, in the middle of the queue.</summary>
    private async Task<double> CountRoundTripsAsync(TransactionMode mode, bool isAhead)
    {
        const int first = 10;
        const int last = 30;
        var sql = new SqlTraffic();
        var server = new NpgsqlConnectionStringBuilder(Bench.Databases.Widgets);
        await using var proxy = new FaultProxy(server.Host!, server.Port, new ProxiedNetwork { Watch = sql.Watch });
        var counts = new ConcurrentDictionary<Guid, long>();
        var queue = Bench.QueueOf(mode);
        await queue.EnqueueAsync(Ids.Select(id => OutgoingMessage.Create("work", new BareBench.Todo(), id)), CancellationToken.None);
        using var host = Bench.Build(
            mode,
            async (context, cancellationToken) =>
            {
                counts[context.MessageId] = sql.Count.RoundTrips;
                await InsertAsync(context, cancellationToken);
            },
            data: Through(Bench.Databases.Widgets), queue: Through(Bench.Databases.QueueOf(mode)), configure: endpoint => endpoint.ReceiveAhead(isAhead));
        await host.StartAsync();
        await Eventually.HoldsAsync(async () => await queue.CountAsync(CancellationToken.None) == 0, "the queue is empty");
        await host.StopAsync();
        return (double)(counts[Ids[last]] - counts[Ids[first]]) / (last - first);

        string Through(string connection) => new NpgsqlConnectionStringBuilder(connection) { Host = "127.0.0.1", Port = proxy.Port }.ConnectionString;
    }
}
