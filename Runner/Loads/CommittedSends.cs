using Kit.Endpoints.Bare;
using Kit.Endpoints.Cells;
using Kit.Runner.Measuring;
using Kit.Runner.Results.Loads;
using Kit.Runner.Stage.Databases;
using Kit.Runner.Stage.Transports;

namespace Kit.Runner.Loads;

/// <summary>The messages that handlers send to queues in PostgreSQL.</summary>
/// <remarks>
/// A place in a queue is taken when a message is sent. So the message that a handler sends for an awaited one is behind every place that was seen before.
/// </remarks>
internal sealed class CommittedSends : CommittedEffects
{
    private readonly IReadOnlyList<ICommittedQueue> queues;
    private readonly long[] seen;

    /// <param name="transport">The place of the cell's queues.</param>
    /// <exception cref="NotSupportedException">The queues do not tell when messages were committed.</exception>
    public CommittedSends(Cell cell, RoundTransport transport)
    {
        queues =
        [
            .. from name in cell.SinksOf(transport.Queue)
               select cell.Kind.OpenQueue(name, EndpointConnections.ForNewestRows(transport.ForRunner)) as ICommittedQueue
                   ?? throw new NotSupportedException($"The queues of {cell} do not tell when messages were committed."),
        ];
        seen = [.. queues.Select(_ => long.MinValue)];
    }

    public override EffectClock Clock => EffectClock.SendCommit;

    public override async Task<IReadOnlyDictionary<Guid, DateTimeOffset>> EndAsync(
        IEnumerable<(Guid Message, DateTimeOffset Committed)> rows, TimeSpan serverAhead, CancellationToken cancellationToken)
    {
        var sent = new List<CommittedMessage>();
        foreach (var queue in queues)
            sent.AddRange(await queue.ReadCommittedAsync(long.MinValue, cancellationToken));
        // What a handler sends has the id of its message.
        return sent.GroupBy(one => one.MessageId).ToDictionary(same => same.Key, same => same.Min(one => one.CommittedAt) - serverAhead);
    }

    public override async Task<IReadOnlyList<(Guid Message, DateTimeOffset Moment)>> ReadLatestAsync(CancellationToken cancellationToken)
    {
        var latest = new List<(Guid, DateTimeOffset)>();
        foreach (var queue in queues)
            latest.AddRange((await queue.ReadLatestAsync(MostLatest, cancellationToken)).Select(one => (one.MessageId, one.CommittedAt)));
        return latest;
    }

    public override async ValueTask DisposeAsync()
    {
        await base.DisposeAsync();
        foreach (var queue in queues)
            await queue.DisposeAsync();
    }

    protected override long[] Mark() => [.. queues.Select((_, at) => Volatile.Read(ref seen[at]))];

    protected override async Task AskAsync(long[] above)
    {
        foreach (var (at, queue) in queues.Index())
        {
            var there = await queue.ReadCommittedAsync(above[at], CancellationToken.None);
            foreach (var one in there)
                Tell(one.MessageId);
            // Nobody else writes it.
            Volatile.Write(ref seen[at], there.Select(one => one.Position).Append(seen[at]).Max());
        }
    }
}
