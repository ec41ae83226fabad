using System.Collections.Concurrent;
using Kit.Runner.Results.Loads;

namespace Kit.Runner.Measuring;

/// <summary>The moments of the effects of a load's messages: the ends of their latencies. Each kind of effect has its class.</summary>
internal abstract class Effects : IEffectWatch, IAsyncDisposable
{
    private readonly ConcurrentDictionary<Guid, Awaited> awaited = new();
    private readonly ConcurrentDictionary<Guid, DateTimeOffset> told = new();

    /// <summary>The clock of the moments.</summary>
    public abstract EffectClock Clock { get; }

    /// <summary>The moments at which waiting users were told of an effect, by this machine's clock.</summary>
    public IReadOnlyDictionary<Guid, DateTimeOffset> Told => told;

    /// <summary>The reason why it can tell nothing any more; <see langword="null"/> while it can. Waiting users are not told of it.</summary>
    public string? Loss => Failure.Exception?.InnerException?.Message;

    /// <summary>Fails when it can tell nothing any more, and does not end otherwise.</summary>
    protected abstract Task Failure { get; }

    /// <summary>Begins, before the first message is sent.</summary>
    /// <param name="isWaitedFor">True if users will wait for effects.</param>
    public abstract Task StartAsync(bool isWaitedFor, CancellationToken cancellationToken);

    /// <summary>Ends, when nothing is handled any more. The handlers' sends can be read from their queues afterwards.</summary>
    /// <param name="rows">The rows of each message, by the database's clock.</param>
    /// <param name="serverAhead">Lead of the database's clock over this machine's.</param>
    /// <returns>The first moment of each message's effect, by this machine's clock.</returns>
    public abstract Task<IReadOnlyDictionary<Guid, DateTimeOffset>> EndAsync(
        IEnumerable<(Guid Message, DateTimeOffset Committed)> rows, TimeSpan serverAhead, CancellationToken cancellationToken);

    /// <summary>Number of latest effects that is enough for whoever watches the load.</summary>
    protected const int MostLatest = 200;

    /// <summary>Some of the effects that came last, for whoever watches the load.</summary>
    /// <returns>Messages, and the moments of their effects by the server's clock.</returns>
    public abstract Task<IReadOnlyList<(Guid Message, DateTimeOffset Moment)>> ReadLatestAsync(CancellationToken cancellationToken);

    public async Task WaitAsync(Guid message, TimeSpan patience, CancellationToken cancellationToken)
    {
        var one = new Awaited(Mark());
        awaited[message] = one;
        try
        {
            await one.IsThere.Task.WaitAsync(patience, cancellationToken);
        }
        catch (TimeoutException)
        {
            // The account of the load says what became of the message.
        }
        finally
        {
            awaited.TryRemove(message, out _);
        }
    }

    public abstract ValueTask DisposeAsync();

    /// <summary>
    /// A mark below an effect that does not exist yet: the effect will be above it, in each table that has effects. Empty if no tables are read.
    /// </summary>
    protected virtual long[] Mark() => [];

    /// <summary>The lowest of the marks of waiting users; <see langword="null"/> while none waits.</summary>
    protected long[]? LowestMark() => awaited.Values.Select(one => one.Mark)
        .Aggregate((long[]?)null, (lowest, mark) => lowest is null ? mark : [.. lowest.Zip(mark, Math.Min)]);

    /// <summary>Ends the wait for a message, if there is one.</summary>
    protected void Tell(Guid message)
    {
        if (!awaited.TryRemove(message, out var one))
            return;

        told[message] = DateTimeOffset.UtcNow;
        one.IsThere.TrySetResult();
    }

    private sealed record Awaited(long[] Mark)
    {
        public TaskCompletionSource IsThere { get; } = new(TaskCreationOptions.RunContinuationsAsynchronously);
    }
}
