using System.Collections.Concurrent;
using Kit.Prove.Files;
using Kit.Prove.Service;
using Kit.Runner.Measuring;
using Kit.Runner.Results.Loads;

namespace Kit.Prove.Loads;

/// <summary>
/// The effects of a user's service as they come: rows from the databases' logs, sent messages and calls when the kit has them. A message is done with its last
/// effect. The kit's own writes, which put a message in, are no effects.
/// </summary>
internal sealed class ServiceEffects : Effects
{
    private readonly Lock taking = new();
    private readonly IReadOnlyList<Effect> effects;
    private readonly int[] needed;
    private readonly Dictionary<(string Database, string Table), IReadOnlyList<int>> readFrom = [];
    private readonly ConcurrentDictionary<Guid, Awaited> sent = new();
    private readonly ConcurrentQueue<(Guid Message, DateTimeOffset Moment)> latest = new();
    private Dictionary<(string Database, string Table), int> ofSend = [];
    private TimeSpan serverAhead;
    private int done;

    public ServiceEffects(ProofFile file)
    {
        effects = [.. file.Effects.Where(effect => !effect.IsDeadLetter)];
        needed = [.. effects.Select(effect => effect.PerMessage)];
    }

    public override EffectClock Clock => EffectClock.LastEffect;

    /// <summary>Sent messages that have all their effects.</summary>
    public int Done => Volatile.Read(ref done);

    /// <summary>Messages that were sent, or are about to be.</summary>
    public int Expected => sent.Count;

    /// <summary>Fails when nothing tells of effects any more.</summary>
    public Task Watching { get; set; } = new TaskCompletionSource().Task;

    protected override Task Failure => Watching;

    /// <summary>Takes the effects of these messages from now on, before they are sent.</summary>
    public void Expect(IEnumerable<Guid> messages)
    {
        foreach (var message in messages)
            sent[message] = new Awaited(effects.Count);
    }

    /// <summary>Takes what was written with the id of a message as the kit's own: its send wrote it while the service was stopped.</summary>
    public void LearnOfSend(Guid message)
    {
        lock (taking)
        {
            var before = sent[message];
            ofSend = before.Written;
            if (before.IsDone)
                Interlocked.Decrement(ref done);
            sent[message] = new Awaited(effects.Count) { OfSend = ofSend.Keys.ToDictionary(table => table, _ => 0) };
        }
    }

    /// <summary>Takes the writes of a handled message as those that each message needs: a row can be written before it is an effect.</summary>
    /// <returns>An effect of which nothing tells; <see langword="null"/>: there is none.</returns>
    public Effect? LearnNeeded(Guid message)
    {
        lock (taking)
        {
            var seen = sent[message].Seen;
            for (var index = 0; index < needed.Length; index++)
                needed[index] = Math.Max(1, seen[index]);
            Finish(message, sent[message]);
            return effects.Zip(seen).FirstOrDefault(pair => pair.Second == 0).First;
        }
    }

    /// <summary>From now on the lead of the database's clock is taken off the moments of commits.</summary>
    public void Correct(TimeSpan lead)
    {
        lock (taking)
            serverAhead = lead;
    }

    public void Take(CommittedTransaction commit)
    {
        lock (taking)
        {
            foreach (var (table, text) in commit.Written)
            {
                foreach (var id in ProofAccount.IdsIn(text).Distinct())
                {
                    if (sent.TryGetValue(id, out var one) && !IsOfSend(one, commit, (commit.Database, table)))
                        See(id, one, EffectsIn(commit.Database, table), commit.CommittedUtc - serverAhead);
                }
            }
        }
    }

    /// <summary>Takes a sent message or a call.</summary>
    public void Take(Func<Effect, bool> isIts, SeenEffect seen)
    {
        lock (taking)
        {
            IReadOnlyList<int> own = [.. Enumerable.Range(0, effects.Count).Where(index => isIts(effects[index]))];
            foreach (var id in ProofAccount.IdsIn(seen.Text).Distinct())
            {
                if (sent.TryGetValue(id, out var one))
                    See(id, one, own, seen.Moment);
            }
        }
    }

    public override Task StartAsync(bool isWaitedFor, CancellationToken cancellationToken) => Task.CompletedTask;

    /// <remarks>Whoever has stopped the service has waited until everything was told.</remarks>
    public override Task<IReadOnlyDictionary<Guid, DateTimeOffset>> EndAsync(
        IEnumerable<(Guid Message, DateTimeOffset Committed)> rows, TimeSpan serverAhead, CancellationToken cancellationToken)
    {
        lock (taking)
        {
            return Task.FromResult<IReadOnlyDictionary<Guid, DateTimeOffset>>(sent.Where(one => one.Value.Moments.All(moment => moment is not null))
                .ToDictionary(one => one.Key, one => one.Value.Moments.Max()!.Value));
        }
    }

    public override Task<IReadOnlyList<(Guid Message, DateTimeOffset Moment)>> ReadLatestAsync(CancellationToken cancellationToken) =>
        Task.FromResult<IReadOnlyList<(Guid, DateTimeOffset)>>([.. latest]);

    // The service ends what it watches.
    public override ValueTask DisposeAsync() => ValueTask.CompletedTask;

    private void See(Guid message, Awaited one, IReadOnlyList<int> indexes, DateTimeOffset moment)
    {
        foreach (var index in indexes)
        {
            one.Seen[index]++;
            if (one.Moments[index] is not { } before || moment > before)
                one.Moments[index] = moment;
        }

        if (indexes.Count > 0)
            Finish(message, one);
    }

    private void Finish(Guid message, Awaited one)
    {
        if (one.IsDone || !one.Seen.Zip(needed).All(pair => pair.First >= pair.Second))
            return;

        one.IsDone = true;
        Interlocked.Increment(ref done);
        latest.Enqueue((message, one.Moments.Max() ?? DateTimeOffset.UtcNow));
        if (latest.Count > MostLatest)
            latest.TryDequeue(out _);
        Tell(message);
    }

    /// <summary>True if it is the transaction that has put the message in: in such a table it is the first that has the id.</summary>
    private bool IsOfSend(Awaited one, CommittedTransaction commit, (string Database, string Table) table)
    {
        if (!ReferenceEquals(one.Last, commit))
            one.LastTables.Clear();
        var isNew = one.LastTables.Add(table);
        one.Last = commit;
        if (isNew)
            one.Written[table] = one.Written.GetValueOrDefault(table) + 1;
        return one.Written[table] <= (one.OfSend ?? ofSend).GetValueOrDefault(table);
    }

    private IReadOnlyList<int> EffectsIn(string database, string table)
    {
        if (!readFrom.TryGetValue((database, table), out var indexes))
        {
            readFrom[(database, table)] = indexes =
            [
                .. Enumerable.Range(0, effects.Count)
                    .Where(index => effects[index] is RowEffect row && row.Database == database && WrittenTables.Names(row.Sql, table)),
            ];
        }

        return indexes;
    }

    /// <summary>A message whose effects are awaited.</summary>
    private sealed class Awaited(int effects)
    {
        /// <summary>Number of times that each effect was seen.</summary>
        public int[] Seen { get; } = new int[effects];

        /// <summary>The last moment of each effect.</summary>
        public DateTimeOffset?[] Moments { get; } = new DateTimeOffset?[effects];

        /// <summary>Transactions that have written its id, by table.</summary>
        public Dictionary<(string Database, string Table), int> Written { get; } = [];

        /// <summary>Transactions of its send in each table, if others than those of each message.</summary>
        public Dictionary<(string Database, string Table), int>? OfSend { get; init; }

        public CommittedTransaction? Last { get; set; }

        /// <summary>Tables of the last transaction.</summary>
        public HashSet<(string Database, string Table)> LastTables { get; } = [];

        public bool IsDone { get; set; }
    }
}
