using System.Collections.Concurrent;
using System.Transactions;
using Kit.Endpoints.Bare;
using Kit.Endpoints.Bare.PostgreSql;
using Kit.Modes;
using Npgsql;

namespace Kit.Tests.Bare;

/// <summary>
/// Batches of ten on PostgreSQL in each mode that has them: what one message does to its neighbours. The worker receives the first ten messages
/// one at a time, so the message that misbehaves is a later one.
/// </summary>
[Parallelizable]
public sealed class MessagesInBatches : ManyMessages
{
    private const int Size = 10;

    private static IEnumerable<TransactionMode> Modes => BareBench.Modes.Where(mode => PostgreSqlSupport.InBatches(mode, LogFlush.Every).IsSupported);

    private static IEnumerable<TransactionMode> InOneTransaction =>
        Modes.Where(mode => mode != TransactionMode.ScopeOff && mode != TransactionMode.TransactionsOff);

    private static IEnumerable<TransactionMode> ExactlyOnce => InOneTransaction.Where(mode => mode != TransactionMode.DtcOff);

    /// <summary>Most with the exhaustive tests: <see cref="TransactionTimesOut"/> has them without batches.</summary>
    private static IEnumerable<TestCaseData> WithTimeOut => InOneTransaction.Where(mode => mode != TransactionMode.Shared)
        .Select(mode => new TestCaseData(mode))
        .Select(data => data.Arguments.Contains(TransactionMode.DtcOff) ? data : data.SetCategory(ExhaustiveAttribute.Category));

    protected override void Configure(BareEndpointBuilder endpoint) => endpoint.ReceiveInBatches(Size);

    [ModeSource(nameof(Modes))]
    public Task Each_is_handled_once_and_in_order(TransactionMode mode) => HandlesEachOnceInOrderAsync(mode);

    [ModeSource(nameof(Modes))]
    public async Task Ten_are_received_at_once(TransactionMode mode)
    {
        var left = -1;

        await HandleAsync(mode, async (context, cancellationToken) =>
        {
            if (context.MessageId == Ids[20])
                left = await CountUnlockedAsync(mode);
            await InsertAsync(context, cancellationToken);
        });

        Assert.That(left, Is.EqualTo(10), "messages that another worker could receive, when the first of messages 20 to 29 is handled");
    }

    [ModeSource(nameof(Modes))]
    public async Task Rows_are_committed_with_their_batch_where_handlers_have_a_transaction(TransactionMode mode)
    {
        var committed = -1;

        await HandleAsync(mode, async (context, cancellationToken) =>
        {
            if (context.MessageId == Misbehaver)
                committed = await Bench.Databases.CountRowsAsync();
            await InsertAsync(context, cancellationToken);
        });

        // The batch is that of messages 20 to 29. In full-dtc the second phase of the one before may still be under way.
        if (mode == TransactionMode.FullDtc)
            Assert.That(committed, Is.InRange(0, 20));
        else
            Assert.That(committed, Is.EqualTo(InOneTransaction.Contains(mode) ? 20 : Misbehaving));
    }

    [ModeSource(nameof(Modes))]
    public Task One_that_throws_is_retried_and_given_up_alone(TransactionMode mode) => GivesUpOneAloneAsync(
        mode, rows: InOneTransaction.Contains(mode) ? 0 : mode.Attempts, (_, _) => throw new InvalidOperationException("no such widget"));

    [ModeSource(nameof(InOneTransaction))]
    public Task One_that_swallows_an_error_of_the_database_is_given_up_alone(TransactionMode mode) =>
        GivesUpOneAloneAsync(mode, rows: 0, SwallowErrorAsync);

    /// <summary>The server reports a deferred constraint at the commit of the whole batch, or at its PREPARE.</summary>
    [ModeSource(nameof(InOneTransaction))]
    public async Task One_that_fails_the_commit_is_found_and_given_up_alone(TransactionMode mode)
    {
        await TestDatabases.ExecuteAsync(
            Bench.Databases.Widgets,
            "CREATE TABLE part (id integer PRIMARY KEY); CREATE TABLE needs (part integer REFERENCES part DEFERRABLE INITIALLY DEFERRED)");

        var errors = await HandleAsync(mode, async (context, cancellationToken) =>
        {
            await InsertAsync(context, cancellationToken);
            if (context.MessageId == Misbehaver)
                await ExecuteAsync(context, "INSERT INTO needs VALUES (1)", cancellationToken);
        });

        IsGivenUpAlone(errors, mode.Attempts);
        await HasRowsAsync(0);
    }

    /// <summary>Neighbours hold locks until the batch commits. An attempt is counted only when the message is alone.</summary>
    [ModeSource(nameof(InOneTransaction))]
    public async Task One_that_meets_a_deadlock_is_not_counted_before_it_is_alone(TransactionMode mode)
    {
        var attempts = new ConcurrentQueue<int>();

        var errors = await HandleAsync(mode, async (context, cancellationToken) =>
        {
            await InsertAsync(context, cancellationToken);
            if (context.MessageId != Misbehaver)
                return;
            attempts.Enqueue(context.Attempt);
            await ExecuteAsync(context, "DO $$ BEGIN RAISE 'as if it were one' USING ERRCODE = 'deadlock_detected'; END $$", cancellationToken);
        });

        Assert.That(attempts, Is.EqualTo([1, 1, 2, 3]), "first in its batch");
        IsGivenUpAlone(errors, mode.Attempts);
        await HasRowsAsync(0);
    }

    /// <summary>What one leaves in the transaction fails its neighbours, and each would succeed alone.</summary>
    [TestCase("shared")]
    [TestCase("dtc-off")]
    public async Task None_is_given_up_for_what_a_neighbour_left_in_the_transaction(string mode)
    {
        var errors = await HandleAsync(TransactionMode.Parse(mode), async (context, cancellationToken) =>
        {
            await ExecuteAsync(context, "CREATE TEMPORARY TABLE part (id integer) ON COMMIT DROP", cancellationToken);
            await InsertAsync(context, cancellationToken);
        });

        Assert.That(errors, Is.Empty);
        await HasRowsAsync();
    }

    [ModeSource(nameof(InOneTransaction))]
    public async Task One_that_leaves_a_reader_open_is_given_up_alone(TransactionMode mode)
    {
        var errors = await HandleAsync(mode, async (context, cancellationToken) =>
        {
            await InsertAsync(context, cancellationToken);
            if (context.MessageId != Misbehaver)
                return;
            var command = (await context.GetConnectionAsync(cancellationToken)).CreateCommand();
            command.CommandText = "SELECT generate_series(1, 100000)";
            await command.ExecuteReaderAsync(cancellationToken);
        });

        IsGivenUpAlone(errors, mode.Attempts);
        await HasRowsAsync(0);
    }

    [ModeSource(nameof(ExactlyOnce))]
    public async Task One_that_ends_its_session_is_found_and_given_up_alone(TransactionMode mode)
    {
        var errors = await HandleAsync(mode, async (context, cancellationToken) =>
        {
            await InsertAsync(context, cancellationToken);
            if (context.MessageId == Misbehaver)
                await ExecuteAsync(context, "SELECT pg_terminate_backend(pg_backend_pid())", cancellationToken);
        });

        IsGivenUpAlone(errors, mode.Attempts);
        await HasRowsAsync(0);
    }

    [TestCaseSource(nameof(WithTimeOut))]
    public async Task One_that_takes_too_long_is_given_up_alone(TransactionMode mode)
    {
        var errors = await HandleAsync(
            mode,
            async (context, cancellationToken) =>
            {
                await InsertAsync(context, cancellationToken);
                while (context.MessageId == Misbehaver && Transaction.Current!.TransactionInformation.Status == TransactionStatus.Active)
                    await Task.Delay(TimeSpan.FromMilliseconds(50), CancellationToken.None);
            },
            endpoint => endpoint.LimitTransactions(TimeSpan.FromSeconds(1)));

        IsGivenUpAlone(errors, mode.Attempts);
        await HasRowsAsync(0);
    }

    [Test]
    public async Task One_that_swallows_an_error_and_sends_harms_no_neighbour()
    {
        await using var sink = new PostgreSqlQueue(Bench.Databases.Widgets, "sink");
        await sink.CreateAsync(CancellationToken.None);
        var handled = new ConcurrentQueue<Guid>();

        var errors = await HandleAsync(TransactionMode.Shared, async (context, cancellationToken) =>
        {
            handled.Enqueue(context.MessageId);
            await InsertAsync(context, cancellationToken);
            await context.SendAsync("sink", "an invoice", context.MessageId, cancellationToken: cancellationToken);
            if (context.MessageId == Misbehaver)
                await Assert.ThatAsync(() => ExecuteAsync(context, "SELECT 1 / 0", cancellationToken), Throws.InstanceOf<PostgresException>());
        });

        IsGivenUpAlone(errors, TransactionMode.Shared.Attempts);
        await HasRowsAsync(0);
        Assert.That(await sink.ReadMessagesAsync(CancellationToken.None), Is.EquivalentTo(Ids.Where(id => id != Misbehaver)));
        Assert.That(handled.Count(id => id == Ids[20]), Is.EqualTo(1), "the first two attempts roll back that message alone");
    }

    /// <summary>Its last attempt is made alone, where in <c>dtc-off</c> the rows are committed before the sends are written.</summary>
    [ModeSource(nameof(Modes))]
    public async Task Each_sends_once_and_one_that_sends_to_no_queue_is_given_up_alone(TransactionMode mode)
    {
        await using var sink = new PostgreSqlQueue(Bench.Databases.QueueOf(mode), "sink");
        await sink.CreateAsync(CancellationToken.None);

        var errors = await HandleAsync(mode, async (context, cancellationToken) =>
        {
            await InsertAsync(context, cancellationToken);
            await context.SendAsync("sink", "an invoice", context.MessageId, cancellationToken: cancellationToken);
            if (context.MessageId == Misbehaver)
                await context.SendAsync("nowhere", "an invoice", cancellationToken: cancellationToken);
        });

        IsGivenUpAlone(errors, mode.Attempts);
        await HasRowsAsync(mode == TransactionMode.DtcOff ? 1 : InOneTransaction.Contains(mode) ? 0 : mode.Attempts);
        var sent = await sink.ReadMessagesAsync(CancellationToken.None);
        Assert.That(sent.Where(id => id != Misbehaver), Is.EqualTo(Ids.Where(id => id != Misbehaver)));
        Assert.That(sent.Count(id => id == Misbehaver), Is.EqualTo(mode == TransactionMode.TransactionsOff ? 1 : 0));
    }

    /// <summary>In <c>shared</c> it commits the receive of messages that no handler has begun: they are put back.</summary>
    /// <param name="before">What another session does before.</param>
    /// <param name="closes">Whether the handler closes the connection, too.</param>
    [TestCase("SELECT", false)]
    [TestCase("SELECT", true)]
    [TestCase("SELECT pg_stat_reset_shared('bgwriter')", false)]
    public async Task One_that_commits_the_transaction_loses_no_neighbour(string before, bool closes)
    {
        await HandleAsync(TransactionMode.Shared, async (context, cancellationToken) =>
        {
            await InsertAsync(context, cancellationToken);
            if (context.MessageId == Misbehaver)
            {
                await TestDatabases.ExecuteAsync(Bench.Databases.Queue, before);
                await ExecuteAsync(context, "COMMIT", cancellationToken);
            }

            if (context.MessageId == Misbehaver && closes)
                await (await context.GetConnectionAsync(cancellationToken)).CloseAsync();
        });

        var rows = await Bench.Databases.ReadRowsByMessageAsync();
        Assert.That(rows.Keys, Is.EquivalentTo(Ids));
        Assert.That(rows.Values, Is.All.EqualTo(1));
    }

    [ModeSource(nameof(Modes))]
    public async Task The_rest_goes_back_when_the_host_stops_waiting(TransactionMode mode)
    {
        var queue = await StopAtMisbehavingAsync(mode, InsertAsync, cancellationToken => Task.Delay(Timeout.Infinite, cancellationToken));

        var left = await queue.ReadMessagesAsync(CancellationToken.None);
        var givenUp = mode == TransactionMode.TransactionsOff ? 1 : 0;
        Assert.That(left, Is.EqualTo(Ids.Skip(Misbehaving + givenUp)), "those that no handler had finished");
        Assert.That((await queue.ReadErrorsAsync(CancellationToken.None)).Select(error => error.MessageId), Is.EqualTo(Ids.Skip(Misbehaving).Take(givenUp)));
        var rows = await Bench.Databases.ReadRowsByMessageAsync();
        Assert.That(rows.Keys.Where(id => id != Misbehaver), Is.EquivalentTo(Ids.Take(Misbehaving)));
        Assert.That(rows.Values, Is.All.EqualTo(1));
    }

    /// <summary>The message in hand is lost, as without batches: it has left the queue, and it cannot be given up.</summary>
    [Test]
    public async Task In_transactions_off_the_rest_goes_back_when_the_session_is_lost()
    {
        var database = new NpgsqlConnectionStringBuilder(Bench.Databases.Queue).Database;

        var errors = await HandleAsync(TransactionMode.TransactionsOff, async (context, cancellationToken) =>
        {
            if (context.MessageId != Misbehaver)
            {
                await InsertAsync(context, cancellationToken);
                return;
            }

            await TestDatabases.ExecuteAsync(
                Bench.Databases.Widgets,
                $"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{database}' AND query LIKE 'DELETE FROM%'");
            throw new InvalidOperationException("after the session was lost");
        });

        Assert.That(errors, Is.Empty);
        await HasRowsAsync(0);
    }

    /// <summary>A handler that ends only when its token is cancelled is the last that runs.</summary>
    [ModeSource(nameof(Modes))]
    public async Task No_handler_is_begun_after_the_host_has_stopped_waiting(TransactionMode mode)
    {
        var handled = new ConcurrentQueue<Guid>();

        var queue = await StopAtMisbehavingAsync(
            mode,
            (context, _) =>
            {
                handled.Enqueue(context.MessageId);
                return Task.CompletedTask;
            },
            async cancellationToken =>
            {
                while (!cancellationToken.IsCancellationRequested)
                    await Task.Delay(TimeSpan.FromMilliseconds(10), CancellationToken.None);
            });

        Assert.That(handled, Is.EqualTo(Ids.Take(Misbehaving + 1)));
        Assert.That(await queue.ReadMessagesAsync(CancellationToken.None), Is.EqualTo(Ids.Skip(Misbehaving + 1)));
    }

    [TestCase("outbox", "one message at a time")]
    [TestCase("npgsql-scope", "rolled back alone")]
    public void A_mode_without_batches_is_refused(string mode, string reason)
    {
        using var host = Bench.Build(TransactionMode.Parse(mode), (_, _) => Task.CompletedTask, configure: endpoint => endpoint.ReceiveInBatches(Size));

        Assert.That(() => host.StartAsync(), Throws.TypeOf<NotSupportedException>().With.Message.Contains(reason));
    }

    [Test]
    public void Batches_with_fewer_flushes_are_refused()
    {
        using var host = Bench.Build(
            TransactionMode.DtcOff, (_, _) => Task.CompletedTask, configure: endpoint => endpoint.ReceiveInBatches(Size).FlushLog(LogFlush.Last));

        Assert.That(() => host.StartAsync(), Throws.TypeOf<NotSupportedException>().With.Message.Contains("use flush 'every'"));
    }

    [Test]
    public void Another_transport_is_refused()
    {
        using var host = Bench.Build(
            TransactionMode.DtcOff, (_, _) => Task.CompletedTask,
            configure: endpoint => endpoint.UseRabbitMq("amqp://127.0.0.1:9", Bench.Databases.Widgets).ReceiveInBatches(Size));

        Assert.That(() => host.StartAsync(), Throws.TypeOf<NotSupportedException>().With.Message.Contains(OnlyOnPostgreSql.Batches.Because));
    }

    [TestCase(0)]
    [TestCase(1_001)]
    public void A_size_out_of_range_is_refused(int size) =>
        Assert.That(
            () => Bench.Build(TransactionMode.DtcOff, (_, _) => Task.CompletedTask, configure: endpoint => endpoint.ReceiveInBatches(size)),
            Throws.TypeOf<ArgumentOutOfRangeException>());

    private async Task<int> CountUnlockedAsync(TransactionMode mode)
    {
        await using var source = NpgsqlDataSource.Create(Bench.Databases.QueueOf(mode));
        await using var command = source.CreateCommand("SELECT count(*)::int FROM (SELECT FROM work FOR UPDATE SKIP LOCKED) AS unlocked");
        return (int)(await command.ExecuteScalarAsync())!;
    }
}
