using System.Collections.Concurrent;
using System.Transactions;
using Kit.Endpoints.Bare;
using Kit.Endpoints.Bare.PostgreSql;
using Kit.Handlers;
using Kit.Modes;
using Npgsql;

namespace Kit.Tests.Bare;

/// <summary>
/// Batches of ten on PostgreSQL in each mode that has them: what one message does to its neighbours. The worker receives the first ten messages
/// one at a time, so the message that misbehaves is a later one.
/// </summary>
[Parallelizable]
public sealed class MessagesInBatches
{
    private const int Size = 10;
    private const int Messages = 40;
    private const int Odd = 25;

    private readonly List<Guid> ids = [.. Enumerable.Range(0, Messages).Select(_ => Guid.CreateVersion7())];
    private BareBench bench = null!;

    private static IEnumerable<TransactionMode> Modes => BareBench.Modes.Where(mode => PostgreSqlSupport.InBatches(mode).IsSupported);

    private static IEnumerable<TransactionMode> InOneTransaction =>
        Modes.Where(mode => mode != TransactionMode.ScopeOff && mode != TransactionMode.TransactionsOff);

    private static IEnumerable<TransactionMode> ExactlyOnce => InOneTransaction.Where(mode => mode != TransactionMode.DtcOff);

    private static IEnumerable<TransactionMode> WithTimeOut => InOneTransaction.Where(mode => mode != TransactionMode.Shared);

    [SetUp]
    public async Task SetUp() => bench = await BareBench.CreateAsync();

    [TearDown]
    public async Task TearDown() => await bench.DisposeAsync();

    [TestCaseSource(nameof(Modes))]
    public async Task Each_is_handled_once_and_in_order(TransactionMode mode)
    {
        var handled = new ConcurrentQueue<Guid>();

        var errors = await HandleAsync(mode, (context, cancellationToken) =>
        {
            handled.Enqueue(context.MessageId);
            return InsertAsync(context, cancellationToken);
        });

        Assert.That(errors, Is.Empty);
        Assert.That(handled, Is.EqualTo(ids));
        await HasRowsAsync();
    }

    [TestCaseSource(nameof(Modes))]
    public async Task Rows_are_committed_with_their_batch_where_handlers_have_a_transaction(TransactionMode mode)
    {
        var committed = -1;

        await HandleAsync(mode, async (context, cancellationToken) =>
        {
            if (context.MessageId == ids[Odd])
                committed = await bench.Databases.CountRowsAsync();
            await InsertAsync(context, cancellationToken);
        });

        // Of messages 20 to 29 it is the sixth. In full-dtc the second phase of the batch before may still be under way.
        if (InOneTransaction.Contains(mode))
            Assert.That(committed, Is.LessThanOrEqualTo(20));
        else
            Assert.That(committed, Is.EqualTo(Odd));
    }

    [TestCaseSource(nameof(Modes))]
    public async Task One_that_throws_is_retried_and_given_up_alone(TransactionMode mode)
    {
        var errors = await HandleAsync(mode, async (context, cancellationToken) =>
        {
            await InsertAsync(context, cancellationToken);
            if (context.MessageId == ids[Odd])
                throw new InvalidOperationException("no such widget");
        });

        IsGivenUpAlone(errors, mode.Attempts);
        await HasRowsAsync(InOneTransaction.Contains(mode) ? 0 : mode.Attempts);
    }

    [TestCaseSource(nameof(InOneTransaction))]
    public async Task One_that_swallows_an_error_of_the_database_is_given_up_alone(TransactionMode mode)
    {
        var errors = await HandleAsync(mode, async (context, cancellationToken) =>
        {
            await InsertAsync(context, cancellationToken);
            if (context.MessageId != ids[Odd])
                return;
            try
            {
                await ExecuteAsync(context, "SELECT 1 / 0", cancellationToken);
            }
            catch (PostgresException)
            {
            }
        });

        IsGivenUpAlone(errors, mode.Attempts);
        await HasRowsAsync(0);
    }

    /// <summary>The server reports a deferred constraint at the commit of the whole batch, or at its PREPARE.</summary>
    [TestCaseSource(nameof(InOneTransaction))]
    public async Task One_that_fails_the_commit_is_found_and_given_up_alone(TransactionMode mode)
    {
        await TestDatabases.ExecuteAsync(
            bench.Databases.Widgets,
            "CREATE TABLE part (id integer PRIMARY KEY); CREATE TABLE needs (part integer REFERENCES part DEFERRABLE INITIALLY DEFERRED)");

        var errors = await HandleAsync(mode, async (context, cancellationToken) =>
        {
            await InsertAsync(context, cancellationToken);
            if (context.MessageId == ids[Odd])
                await ExecuteAsync(context, "INSERT INTO needs VALUES (1)", cancellationToken);
        });

        IsGivenUpAlone(errors, mode.Attempts);
        await HasRowsAsync(0);
    }

    /// <summary>Neighbours hold locks until the batch commits. An attempt is counted only when the message is alone.</summary>
    [TestCaseSource(nameof(InOneTransaction))]
    public async Task One_that_meets_a_deadlock_is_not_counted_before_it_is_alone(TransactionMode mode)
    {
        var attempts = new ConcurrentQueue<int>();

        var errors = await HandleAsync(mode, async (context, cancellationToken) =>
        {
            await InsertAsync(context, cancellationToken);
            if (context.MessageId != ids[Odd])
                return;
            attempts.Enqueue(context.Attempt);
            await ExecuteAsync(context, "DO $$ BEGIN RAISE 'as if it were one' USING ERRCODE = 'deadlock_detected'; END $$", cancellationToken);
        });

        Assert.That(attempts, Is.EqualTo([1, 1, 2, 3]), "first in its batch");
        IsGivenUpAlone(errors, mode.Attempts);
        await HasRowsAsync(0);
    }

    [TestCaseSource(nameof(ExactlyOnce))]
    public async Task One_that_ends_its_session_is_found_and_given_up_alone(TransactionMode mode)
    {
        var errors = await HandleAsync(mode, async (context, cancellationToken) =>
        {
            await InsertAsync(context, cancellationToken);
            if (context.MessageId == ids[Odd])
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
                while (context.MessageId == ids[Odd] && Transaction.Current!.TransactionInformation.Status == TransactionStatus.Active)
                    await Task.Delay(TimeSpan.FromMilliseconds(50), CancellationToken.None);
            },
            endpoint => endpoint.LimitTransactions(TimeSpan.FromSeconds(1)));

        IsGivenUpAlone(errors, mode.Attempts);
        await HasRowsAsync(0);
    }

    [TestCaseSource(nameof(Modes))]
    public async Task Each_sends_once_and_one_that_sends_to_no_queue_is_given_up_alone(TransactionMode mode)
    {
        await using var sink = new PostgreSqlQueue(bench.Databases.QueueOf(mode), "sink");
        await sink.CreateAsync(CancellationToken.None);

        var errors = await HandleAsync(mode, async (context, cancellationToken) =>
        {
            await InsertAsync(context, cancellationToken);
            await context.SendAsync("sink", "an invoice", context.MessageId, cancellationToken: cancellationToken);
            if (context.MessageId == ids[Odd])
                await context.SendAsync("nowhere", "an invoice", cancellationToken: cancellationToken);
        });

        IsGivenUpAlone(errors, mode.Attempts);
        await HasRowsAsync(InOneTransaction.Contains(mode) ? 0 : mode.Attempts);
        var sent = await sink.ReadMessagesAsync(CancellationToken.None);
        Assert.That(sent.Where(id => id != ids[Odd]), Is.EqualTo(ids.Where(id => id != ids[Odd])));
        Assert.That(sent.Count(id => id == ids[Odd]), Is.EqualTo(mode == TransactionMode.TransactionsOff ? 1 : 0));
    }

    /// <summary>In <c>shared</c> it commits the receive of messages that no handler has begun: they are put back.</summary>
    [Test]
    public async Task One_that_commits_the_transaction_loses_no_neighbour()
    {
        await HandleAsync(TransactionMode.Shared, async (context, cancellationToken) =>
        {
            await InsertAsync(context, cancellationToken);
            if (context.MessageId == ids[Odd])
                await ExecuteAsync(context, "COMMIT", cancellationToken);
        });

        var rows = await bench.Databases.ReadRowsByMessageAsync();
        Assert.That(rows.Keys, Is.EquivalentTo(ids));
        Assert.That(rows.Values, Is.All.EqualTo(1));
    }

    [TestCaseSource(nameof(Modes))]
    public async Task The_rest_goes_back_when_the_host_stops_waiting(TransactionMode mode)
    {
        var begun = new TaskCompletionSource();
        var queue = bench.QueueOf(mode);
        await queue.EnqueueAsync(ids.Select(id => OutgoingMessage.Create("work", new BareBench.Todo(), id)), CancellationToken.None);
        using var host = bench.Build(
            mode,
            async (context, cancellationToken) =>
            {
                await InsertAsync(context, cancellationToken);
                if (context.MessageId != ids[Odd])
                    return;
                begun.SetResult();
                await Task.Delay(Timeout.Infinite, cancellationToken);
            },
            configure: endpoint => endpoint.ReceiveInBatches(Size));
        await host.StartAsync();
        await begun.Task;

        await host.StopAsync(new CancellationToken(canceled: true));

        var left = await queue.ReadMessagesAsync(CancellationToken.None);
        var given = mode == TransactionMode.TransactionsOff ? 1 : 0;
        Assert.That(left, Is.EqualTo(ids.Skip(Odd + given)), "those that no handler had finished");
        Assert.That((await queue.ReadErrorsAsync(CancellationToken.None)).Select(error => error.MessageId), Is.EqualTo(ids.Skip(Odd).Take(given)));
        var rows = await bench.Databases.ReadRowsByMessageAsync();
        Assert.That(rows.Keys.Where(id => id != ids[Odd]), Is.EquivalentTo(ids.Take(Odd)));
        Assert.That(rows.Values, Is.All.EqualTo(1));
    }

    [TestCase("outbox", "one message at a time")]
    [TestCase("npgsql-scope", "rolled back alone")]
    public void A_mode_without_batches_is_refused(string mode, string reason)
    {
        using var host = bench.Build(TransactionMode.Parse(mode), (_, _) => Task.CompletedTask, configure: endpoint => endpoint.ReceiveInBatches(Size));

        Assert.That(() => host.StartAsync(), Throws.TypeOf<NotSupportedException>().With.Message.Contains(reason));
    }

    [Test]
    public void Batches_with_fewer_flushes_are_refused()
    {
        using var host = bench.Build(
            TransactionMode.DtcOff, (_, _) => Task.CompletedTask, configure: endpoint => endpoint.ReceiveInBatches(Size).FlushLog(LogFlush.Last));

        Assert.That(() => host.StartAsync(), Throws.TypeOf<NotSupportedException>().With.Message.Contains("Use flush 'every'"));
    }

    [Test]
    public void Another_transport_is_refused()
    {
        using var host = bench.Build(
            TransactionMode.DtcOff, (_, _) => Task.CompletedTask,
            configure: endpoint => endpoint.UseRabbitMq("amqp://127.0.0.1:9", bench.Databases.Widgets).ReceiveInBatches(Size));

        Assert.That(() => host.StartAsync(), Throws.TypeOf<NotSupportedException>().With.Message.Contains("only queues in PostgreSQL can"));
    }

    [TestCase(0)]
    [TestCase(1_001)]
    public void A_size_out_of_range_is_refused(int size) =>
        Assert.That(
            () => bench.Build(TransactionMode.DtcOff, (_, _) => Task.CompletedTask, configure: endpoint => endpoint.ReceiveInBatches(size)),
            Throws.TypeOf<ArgumentOutOfRangeException>());

    private async Task<IReadOnlyList<DeadLetter>> HandleAsync(TransactionMode mode, Work work, Action<BareEndpointBuilder>? configure = null)
    {
        var queue = bench.QueueOf(mode);
        await queue.EnqueueAsync(ids.Select(id => OutgoingMessage.Create("work", new BareBench.Todo(), id)), CancellationToken.None);
        using var host = bench.Build(mode, work, configure: endpoint =>
        {
            endpoint.ReceiveInBatches(Size);
            configure?.Invoke(endpoint);
        });
        await host.StartAsync();
        await Eventually.HoldsAsync(async () => await queue.CountAsync(CancellationToken.None) == 0, "the queue is empty");
        await host.StopAsync();
        return await queue.ReadErrorsAsync(CancellationToken.None);
    }

    private void IsGivenUpAlone(IReadOnlyList<DeadLetter> errors, int attempts) =>
        Assert.That(errors.Select(error => (error.MessageId, error.FailedAttempts)), Is.EqualTo(new[] { (ids[Odd], (int?)attempts) }));

    private Task HasRowsAsync() => HasRowsAsync(ofTheOdd: 1);

    private async Task HasRowsAsync(int ofTheOdd)
    {
        var rows = new Dictionary<Guid, int>(await bench.Databases.ReadRowsByMessageAsync());
        Assert.That(rows.GetValueOrDefault(ids[Odd]), Is.EqualTo(ofTheOdd));
        rows.Remove(ids[Odd], out _);
        Assert.That(rows.Keys, Is.EquivalentTo(ids.Where(id => id != ids[Odd])));
        Assert.That(rows.Values, Is.All.EqualTo(1));
    }

    private static Task InsertAsync(MessageContext context, CancellationToken cancellationToken) =>
        ExecuteAsync(context, $"INSERT INTO widget (id, message_id) VALUES ({WidgetId.Next()}, '{context.MessageId}')", cancellationToken);

    private static async Task ExecuteAsync(MessageContext context, string statement, CancellationToken cancellationToken)
    {
        await using var command = (await context.GetConnectionAsync(cancellationToken)).CreateCommand();
        command.CommandText = statement;
        await command.ExecuteNonQueryAsync(cancellationToken);
    }
}
