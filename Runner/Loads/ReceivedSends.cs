using System.Collections.Concurrent;
using Kit.Runner.Measuring;
using Kit.Runner.Results.Loads;
using Kit.Runner.Stage;

namespace Kit.Runner.Loads;

/// <summary>The messages that handlers send to queues of a broker, which does not tell when they arrived: a consumer of the runner receives them.</summary>
internal sealed class ReceivedSends(Sinks sinks, RoundMessages messages) : Effects
{
    private readonly ConcurrentDictionary<Guid, DateTimeOffset> received = new();
    private readonly ConcurrentQueue<(Guid Message, DateTimeOffset Moment)> latest = new();
    private readonly TaskCompletionSource lost = new(TaskCreationOptions.RunContinuationsAsynchronously);

    public override EffectClock Clock => EffectClock.SendReceipt;

    protected override Task Failure => lost.Task;

    public override Task StartAsync(bool isWaitedFor, CancellationToken cancellationToken) =>
        sinks.ConsumeAsync(messages.Find, Receive, reason => lost.TrySetException(reason), cancellationToken);

    /// <remarks>Without its consumer it does not know when the last ones arrived. <see cref="Effects.Loss"/> says so.</remarks>
    public override async Task<IReadOnlyDictionary<Guid, DateTimeOffset>> EndAsync(
        IEnumerable<(Guid Message, DateTimeOffset Committed)> rows, TimeSpan serverAhead, CancellationToken cancellationToken)
    {
        await sinks.EndConsumingAsync(cancellationToken);
        return received;
    }

    public override Task<IReadOnlyList<(Guid Message, DateTimeOffset Moment)>> ReadLatestAsync(CancellationToken cancellationToken) =>
        Task.FromResult<IReadOnlyList<(Guid, DateTimeOffset)>>([.. latest]);

    // The sinks end their consumers.
    public override ValueTask DisposeAsync() => ValueTask.CompletedTask;

    private void Receive(Guid message, DateTimeOffset moment)
    {
        received.TryAdd(message, moment);
        latest.Enqueue((message, moment));
        if (latest.Count > MostLatest)
            latest.TryDequeue(out _);
        Tell(message);
    }
}
