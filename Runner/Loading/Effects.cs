using System.Collections.Concurrent;
using System.Diagnostics;
using Kit.Runner.Databases;
using Kit.Runner.Results.Loads;
using Kit.Runner.Stage;
using Kit.Runner.Transports;

namespace Kit.Runner.Loading;

/// <summary>When the effect of each message of a load was there: the end of its latency. Each kind of effect has its class.</summary>
internal abstract class Effects : IEffectWatch, IAsyncDisposable
{
    private readonly ConcurrentDictionary<Guid, Awaited> awaited = new();
    private readonly ConcurrentDictionary<Guid, DateTimeOffset> told = new();

    /// <summary>By what it tells.</summary>
    public abstract EffectClock Clock { get; }

    /// <summary>When those who waited for an effect were told that it is there, by this machine's clock.</summary>
    public IReadOnlyDictionary<Guid, DateTimeOffset> Told => told;

    /// <summary>Why it can tell nothing any more; <see langword="null"/> while it can. Whoever waits is not told so.</summary>
    public string? Loss => Failure.Exception?.InnerException?.Message;

    /// <summary>Fails when it can tell nothing any more, and does not end otherwise.</summary>
    protected abstract Task Failure { get; }

    /// <summary>Those of a cell, not yet started.</summary>
    public static Effects Of(CellStage stage) => (stage.Cell.Scenario.Rows, Transport.Of(stage.Cell).Arrivals) switch
    {
        (1, _) => new CommittedRows(stage.Databases.WidgetsForRunner),
        (0, ArrivalClock.CommitTimestamps) => new CommittedSends(stage.Cell, stage.Place),
        (0, ArrivalClock.Receipt) => new ReceivedSends(stage.Sinks, stage.Messages),
        _ => throw new UnreachableException($"Nobody tells when a message of {stage.Cell} has had its effect."),
    };

    /// <summary>Begins, before the first message is sent.</summary>
    /// <param name="isWaitedFor">Whether users will wait for effects.</param>
    /// <param name="cancellationToken">Ends it.</param>
    public abstract Task StartAsync(bool isWaitedFor, CancellationToken cancellationToken);

    /// <summary>Ends, when nothing is handled any more. What the handlers sent can be read from their queues afterwards.</summary>
    /// <param name="built">The rows that the handlers inserted.</param>
    /// <param name="serverAhead">How far the database's clock is ahead of this machine's.</param>
    /// <param name="cancellationToken">Ends it.</param>
    /// <returns>The first moment of each message's effect, by this machine's clock.</returns>
    public abstract Task<IReadOnlyDictionary<Guid, DateTimeOffset>> EndAsync(
        IReadOnlyList<BuiltWidget> built, TimeSpan serverAhead, CancellationToken cancellationToken);

    /// <summary>How many of the latest effects are enough for whoever watches the load.</summary>
    protected const int MostLatest = 200;

    /// <summary>Some of the effects that came last, for whoever watches the load.</summary>
    /// <param name="cancellationToken">Ends the reading.</param>
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

    /// <summary>Where an effect will be that is not there yet: above this, in each table that has effects. Empty where nobody looks into tables.</summary>
    protected virtual long[] Mark() => [];

    /// <summary>The lowest of the marks that were taken for those who wait; <see langword="null"/> while nobody does.</summary>
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
