using System.Collections.Concurrent;
using System.Diagnostics.Metrics;
using System.Transactions;
using Kit.Endpoints.Bare.Health;
using Kit.Endpoints.Bare.PostgreSql.TwoPhase;
using Kit.Handlers;

namespace Kit.Runner.Rounds;

/// <summary>Wraps the handler and records what the round needs: two counts, and one time for all messages.</summary>
internal sealed class HandlerProbe : IDisposable
{
    private readonly HandleMessage handle;
    private readonly bool recordCompletions;
    private readonly MeterListener listener;
    private readonly ConcurrentQueue<DateTimeOffset> completions = new();
    private readonly ConcurrentQueue<double> lags = new();
    private readonly ConcurrentQueue<double> batches = new();
    private long firstEntry;
    private int entries;
    private int handled;
    private int promotions;

    public HandlerProbe(HandleMessage handle, bool recordCompletions)
    {
        this.handle = handle;
        this.recordCompletions = recordCompletions;
        listener = new MeterListener
        {
            InstrumentPublished = static (instrument, listener) =>
            {
                if (instrument.Meter.Name == EndpointMeter.Name && instrument.Name is SecondPhaseLag.InstrumentName or EndpointMeter.BatchDurationName)
                    listener.EnableMeasurementEvents(instrument);
            },
        };
        listener.SetMeasurementEventCallback<double>((instrument, seconds, _, _) =>
            (instrument.Name == EndpointMeter.BatchDurationName ? batches : lags).Enqueue(TimeSpan.FromSeconds(seconds).TotalMilliseconds));
        listener.Start();
        TransactionManager.DistributedTransactionStarted += CountPromotion;
    }

    public int Handled => Volatile.Read(ref handled);

    public async Task HandleAsync(BuildWidget message, IMessageContext context, CancellationToken cancellationToken)
    {
        if (Interlocked.Increment(ref entries) == 1)
            Volatile.Write(ref firstEntry, DateTimeOffset.UtcNow.UtcTicks);

        await handle(message, context, cancellationToken);
        if (recordCompletions)
            completions.Enqueue(DateTimeOffset.UtcNow);

        Interlocked.Increment(ref handled);
    }

    public DrainReport Report() => new(
        firstEntry == 0 ? null : new DateTimeOffset(firstEntry, TimeSpan.Zero), entries, handled, [.. completions], [.. lags], promotions)
    {
        BatchDurations = [.. batches],
    };

    public void Dispose()
    {
        TransactionManager.DistributedTransactionStarted -= CountPromotion;
        listener.Dispose();
    }

    // A transaction that an endpoint promotes while it starts, to test whether it can, belongs to no message.
    private void CountPromotion(object? sender, TransactionEventArgs promoted)
    {
        if (Volatile.Read(ref entries) > 0)
            Interlocked.Increment(ref promotions);
    }
}
