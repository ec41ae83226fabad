using System.Collections.Concurrent;
using System.Diagnostics;
using Kit.Endpoints.Bare;
using Kit.Modes;
using Npgsql;

namespace Kit.Tests.Bare;

/// <summary>The server ends a session while a message is handled.</summary>
[Parallelizable]
public sealed class SessionIsLost
{
    private static readonly TimeSpan FirstPause = TimeSpan.FromMilliseconds(300);
    private BareBench bench = null!;

    /// <summary>Those in which the receive is open while the handler runs.</summary>
    private static IEnumerable<TransactionMode> ReceivingModes => BareBench.Modes.Where(mode => mode.CommitOrder.IsMessageLeftInHandler);

    /// <summary>Those in which a message that is received again is handled again.</summary>
    private static IEnumerable<TransactionMode> RepeatingModes => ReceivingModes.Where(mode => mode != TransactionMode.Outbox);

    /// <summary>As in a restart, which a handler's own look-up meets, or a switch to read-only before it.</summary>
    private static IEnumerable<object[]> Refusals =>
    [
        .. ReceivingModes.Select(mode => new object[] { mode, new PostgresException("starting up", "FATAL", "FATAL", "57P03") }),
        [TransactionMode.Shared, new ServerRefusedException(new InvalidOperationException("read-only"))],
    ];

    [SetUp]
    public async Task SetUp() => bench = await BareBench.CreateAsync();

    [TearDown]
    public async Task TearDown() => await bench.DisposeAsync();

    [ModeSource(nameof(RepeatingModes))]
    public async Task A_receive_that_can_never_commit_goes_to_the_errors_after_the_attempts_of_its_mode(TransactionMode mode)
    {
        var attempts = 0;
        var errors = await bench.HandleAsync(mode, async (_, _) =>
        {
            attempts++;
            await bench.Databases.TerminateSessionsInTransactionAsync(mode.NeedsOneDatabase ? "_widgets" : "_queue");
        });

        Assert.That(errors.Single(), Has.Property("FailedAttempts").EqualTo(mode.Attempts));
        Assert.That(attempts, Is.EqualTo(mode.Attempts));
        Assert.That(await bench.Databases.CountPreparedAsync(), Is.Zero);
    }

    [Test]
    public async Task The_outbox_does_not_handle_the_message_again()
    {
        var attempts = 0;
        var errors = await bench.HandleAsync(TransactionMode.Outbox, async (_, _) =>
        {
            attempts++;
            await bench.Databases.TerminateSessionsInTransactionAsync("_queue");
        });

        Assert.That(errors, Is.Empty);
        Assert.That(attempts, Is.EqualTo(1));
    }

    [ModeSource(nameof(Refusals))]
    public async Task A_refusal_is_no_attempt_and_the_worker_receives_again(TransactionMode mode, Exception refusal)
    {
        var (refused, other) = (Guid.CreateVersion7(), Guid.CreateVersion7());
        var handled = new ConcurrentQueue<(Guid Id, int Attempt)>();
        var queue = bench.QueueOf(mode);
        await queue.EnqueueAsync(
            [OutgoingMessage.Create("work", new BareBench.Todo(), refused), OutgoingMessage.Create("work", new BareBench.Todo(), other)],
            CancellationToken.None);
        var isAway = true;
        using var host = bench.Build(mode, async (context, _) =>
        {
            if (isAway)
            {
                isAway = false;
                await bench.Databases.TerminateSessionsInTransactionAsync(mode.NeedsOneDatabase ? "_widgets" : "_queue");
                throw refusal;
            }

            handled.Enqueue((context.MessageId, context.Attempt));
        });
        await host.StartAsync();
        await Eventually.HoldsAsync(() => handled.Count == 2, "both are handled");
        await Eventually.HoldsAsync(async () => await queue.CountAsync(CancellationToken.None) == 0, "the queue is empty");
        await host.StopAsync();

        Assert.That(handled, Is.EquivalentTo([(refused, 1), (other, 1)]));
    }

    /// <summary>As after a failover to a standby that lags, or a restore: the server assigns positions again.</summary>
    [ModeSource(nameof(ReceivingModes))]
    public async Task Another_message_at_its_position_is_left_alone(TransactionMode mode)
    {
        var (lost, other) = (Guid.CreateVersion7(), Guid.CreateVersion7());
        var handled = new ConcurrentQueue<(Guid Id, int Attempt)>();
        var errors = await bench.HandleAsync(mode, lost, async (context, _) =>
        {
            handled.Enqueue((context.MessageId, context.Attempt));
            if (context.MessageId != lost)
                return;

            await bench.Databases.TerminateSessionsInTransactionAsync(mode.NeedsOneDatabase ? "_widgets" : "_queue");
            // It waits for the end of the session that has the row.
            await TestDatabases.ExecuteAsync(bench.Databases.QueueOf(mode), $"UPDATE work SET message_id = '{other}'");
            throw new InvalidOperationException("The test wants this attempt to fail.");
        });

        Assert.That(errors, Is.Empty);
        Assert.That(handled, Is.EqualTo([(lost, 1), (other, 1)]));
    }

    [ModeSource(nameof(ReceivingModes))]
    public async Task The_next_attempt_comes_after_a_delay_that_doubles(TransactionMode mode)
    {
        var starts = new List<long>();
        await bench.HandleAsync(
            mode,
            async (context, cancellationToken) =>
            {
                starts.Add(Stopwatch.GetTimestamp());
                var connection = await context.GetConnectionAsync(cancellationToken);
                await using var command = connection.CreateCommand();
                command.CommandText = "SELECT pg_terminate_backend(pg_backend_pid())";
                await command.ExecuteNonQueryAsync(cancellationToken);
            },
            endpoint => endpoint.PauseAfterOutage(FirstPause));

        Assert.That(starts, Has.Count.EqualTo(3));
        Assert.That(Stopwatch.GetElapsedTime(starts[0], starts[1]), Is.GreaterThanOrEqualTo(FirstPause));
        Assert.That(Stopwatch.GetElapsedTime(starts[1], starts[2]), Is.GreaterThanOrEqualTo(FirstPause * 2));
    }

    // Before this was so, a message that took longer was handled again and again, without end.
    [ModeSource(nameof(ReceivingModes))]
    public async Task A_handler_may_take_longer_than_the_server_lets_transactions_idle(TransactionMode mode)
    {
        var queue = mode.NeedsOneDatabase ? "_widgets" : "_queue";
        await bench.Databases.LimitIdleTransactionsAsync(queue, "200ms");
        var attempts = 0;
        var errors = await bench.HandleAsync(mode, async (_, cancellationToken) =>
        {
            attempts++;
            await Task.Delay(TimeSpan.FromSeconds(1), cancellationToken);
        });

        Assert.That(errors, Is.Empty);
        Assert.That(attempts, Is.EqualTo(1));
    }
}
