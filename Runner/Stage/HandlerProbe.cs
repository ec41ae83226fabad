using System.Collections.Concurrent;
using System.Transactions;
using Kit.Endpoints.Cells;
using Kit.Handlers;
using Kit.Runner.Measuring;
using Kit.Runner.Results;

namespace Kit.Runner.Stage;

/// <summary>Wraps the handler and records what the round needs: three counts, one time for all messages, and the endpoint's own metrics.</summary>
internal sealed class HandlerProbe : IDisposable
{
    private readonly HandleMessage handle;
    private readonly bool recordCompletions;
    private readonly PhaseListener phases;
    private readonly ConcurrentDictionary<Guid, DateTimeOffset> completions = new();
    private long firstEntry;
    private int entries;
    private int handled;
    private int failed;
    private int promotions;

    /// <param name="recordCompletions">True to record when the handler returned, for the last time for each message.</param>
    /// <param name="messages">Expected number; 0 if unknown.</param>
    public HandlerProbe(HandleMessage handle, bool recordCompletions, IReadOnlyList<PhaseInstrument> instruments, int messages)
    {
        this.handle = handle;
        this.recordCompletions = recordCompletions;
        phases = new PhaseListener(instruments, messages);
        TransactionManager.DistributedTransactionStarted += CountPromotion;
    }

    public int Entered => Volatile.Read(ref entries);

    public int Handled => Volatile.Read(ref handled);

    public int Failed => Volatile.Read(ref failed);

    public async Task HandleAsync(BuildWidget message, IMessageContext context, CancellationToken cancellationToken)
    {
        if (Interlocked.Increment(ref entries) == 1)
            Volatile.Write(ref firstEntry, DateTimeOffset.UtcNow.UtcTicks);

        try
        {
            await handle(message, context, cancellationToken);
        }
        catch
        {
            Interlocked.Increment(ref failed);
            throw;
        }

        if (recordCompletions)
            completions[message.MessageId] = DateTimeOffset.UtcNow;

        Interlocked.Increment(ref handled);
    }

    public DrainReport Report() => new(
        firstEntry == 0 ? null : new DateTimeOffset(firstEntry, TimeSpan.Zero), entries, handled, [.. completions.Values], promotions)
    {
        SecondPhase = phases.Of(MessagePhase.SecondPhase),
        Batch = phases.Of(MessagePhase.Batch),
        ServiceTime = ServiceTime.Of(phases.Of(MessagePhase.Receive), phases.Of(MessagePhase.Handler), phases.Of(MessagePhase.Commit)),
    };

    public void Dispose()
    {
        TransactionManager.DistributedTransactionStarted -= CountPromotion;
        phases.Dispose();
    }

    // A transaction that an endpoint promotes while it starts, to test whether it can, belongs to no message.
    private void CountPromotion(object? sender, TransactionEventArgs promoted)
    {
        if (Entered > 0)
            Interlocked.Increment(ref promotions);
    }
}
