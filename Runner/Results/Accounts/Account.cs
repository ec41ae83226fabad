using Kit.Guarantees;

namespace Kit.Runner.Results.Accounts;

/// <summary>
/// Accounts for every message of an experiment or a round, by pure functions of what was found. The classes partition the messages: each message
/// gets the first class whose rule holds, and for every finding one does.
/// </summary>
/// <remarks>
/// The order of the rules decides the class that counts a message, and hides no other: <see cref="MessageVerdict.Also"/> has the
/// other classes whose rules hold, and <see cref="ViolationsOf"/> checks both. First come findings that make the rest uncertain (a mistake in
/// the experiment, prepared or half-done work), then effects that cannot be undone, then outstanding work, then the good endings.
/// </remarks>
public sealed class Account
{
    private static readonly IReadOnlyList<(DeliveryClass Class, Func<Traces, Workload, bool> Holds)> Wrong =
    [
        (DeliveryClass.Unexpected, IsUnexpected),
        (DeliveryClass.Torn, (traces, workload) =>
            traces.HasHalfAttempt(workload.RowsPerAttempt) || (traces.Prepared.Count > 0 && HasVisibleBranch(traces, workload))),
        (DeliveryClass.InDoubt, (traces, workload) => traces.Prepared.Count > 0 && !HasVisibleBranch(traces, workload)),
        (DeliveryClass.Duplicated, (traces, workload) => traces.Rows.Count > workload.RowsPerAttempt),
        (DeliveryClass.Ghost, (traces, workload) => workload.RowsPerAttempt > 0 && traces is { Rows.Count: 0, Sink.Count: > 0, Prepared.Count: 0 }),
        (DeliveryClass.Zombie, (traces, workload) =>
            traces is { Queue.Count: 0, Prepared.Count: 0 } && HasEffect(traces, workload)
            && ((workload.Sends && traces.QueuesReached < workload.Deliveries) || traces.Errors > 0)),
        (DeliveryClass.DuplicatedOutgoing, (traces, workload) => traces.HasTooMuchIn(workload.Deliveries) || traces.Errors > 1),
        (DeliveryClass.Stuck, (traces, _) => traces is { Queue.Count: > 0, Prepared.Count: 0 }),
        (DeliveryClass.Lost, (traces, _) => traces is { HasOutcome: false, Queue.Count: 0, Prepared.Count: 0 }),
    ];

    /// <summary>Each applies only if no rule above does.</summary>
    private static readonly IReadOnlyList<(DeliveryClass Class, Func<Traces, bool> Holds)> Ends =
    [
        (DeliveryClass.CleanError, traces => traces.Errors > 0),
        (DeliveryClass.Recovered, traces => traces.SentAs(SendResult.Unknown)),
        (DeliveryClass.Once, _ => true),
    ];

    private Account(IReadOnlyList<MessageVerdict> verdicts, IReadOnlyList<Guid> neverSent, IReadOnlyList<PreparedTransaction> unattributed)
    {
        Verdicts = verdicts;
        NeverSent = neverSent;
        Unattributed = unattributed;
        var byClass = verdicts.ToLookup(verdict => verdict.Class);
        Counts = Enum.GetValues<DeliveryClass>().ToDictionary(kind => kind, kind => byClass[kind].Count());
    }

    /// <summary>The verdicts by message id: on the messages whose send was confirmed, and on those that were found.</summary>
    public IReadOnlyList<MessageVerdict> Verdicts { get; }

    /// <summary>The number of messages in each class, including empty ones. They add up to the <see cref="Verdicts"/>.</summary>
    public IReadOnlyDictionary<DeliveryClass, int> Counts { get; }

    /// <summary>Ids whose send was not confirmed and that were found nowhere: nothing was promised, nothing happened, so they are no messages.</summary>
    public IReadOnlyList<Guid> NeverSent { get; }

    /// <summary>Prepared transactions that cannot be assigned to exactly one message.</summary>
    public IReadOnlyList<PreparedTransaction> Unattributed { get; }

    /// <summary>Rows beyond those of one attempt, summed over all messages.</summary>
    public int ExcessRows => Verdicts.Sum(verdict => verdict.ExcessRows);

    public static Account Of(History history, Workload workload)
    {
        var prepared = new PreparedByMessage(history);
        var sendings = history.Sendings.ToLookup(sending => sending.MessageId);
        var attempts = history.Attempts.ToLookup(line => line.MessageId);
        var rows = history.Rows.ToLookup(row => row.MessageId);
        var sink = history.Sink.ToLookup(row => row.CausedBy);
        var errors = history.Errors.ToLookup(id => id);
        var queue = history.Queue.ToLookup(entry => entry.MessageId);
        Traces TracesOf(Guid id) => new()
        {
            Sendings = [.. sendings[id]],
            Attempts = [.. attempts[id]],
            Rows = [.. rows[id]],
            Sink = [.. sink[id]],
            Errors = errors[id].Count(),
            Queue = [.. queue[id]],
            Prepared = prepared.Of(id),
        };

        var messages = history.Sendings.Select(sending => sending.MessageId)
            .Concat(history.Attempts.Select(line => line.MessageId))
            .Concat(history.Rows.Select(row => row.MessageId))
            .Concat(history.Sink.Select(row => row.CausedBy))
            .Concat(history.Errors)
            .Concat(history.Queue.Select(entry => entry.MessageId))
            .Distinct()
            .Order()
            .Select(id => (Id: id, Traces: TracesOf(id)))
            .ToLookup(message => message.Traces.IsFound || message.Traces.Sendings.Any(sending => sending.Result is SendResult.Acked));
        return new(
            [.. messages[true].Select(message => Judge(message.Id, message.Traces, workload))],
            [.. messages[false].Select(message => message.Id)],
            prepared.Unattributed);
    }

    /// <summary>The messages in the class, alone or among others.</summary>
    public IReadOnlyList<MessageVerdict> AllOf(DeliveryClass deliveryClass) => [.. Verdicts.Where(verdict => verdict.Is(deliveryClass))];

    /// <summary>The evidence for messages that are not <see cref="DeliveryClass.Once"/>: a line that names each, then its findings.</summary>
    /// <param name="perClass">The most messages of each class, the first by id.</param>
    public IReadOnlyList<string> EvidenceOfOthers(int perClass) =>
    [
        .. from verdict in Verdicts.GroupBy(verdict => verdict.Class).OrderBy(kind => kind.Key).SelectMany(kind => kind.Take(perClass))
           where verdict.Class is not DeliveryClass.Once
           let classes = verdict.Classes.Select(Words.Of)
           let heading = $"message {verdict.MessageId} is {string.Join(" and ", classes)}:"
           from line in verdict.Evidence.Select(line => $"  {line}").Prepend(heading)
           select line,
    ];

    /// <summary>
    /// Every message in a class that is not promised, alone or among others, and every prepared transaction that no message explains.
    /// </summary>
    /// <param name="limits">Known reasons for other classes.</param>
    public IReadOnlyList<Violation> ViolationsOf(IReadOnlySet<DeliveryClass> allowed, params IReadOnlyList<KnownLimit> limits)
    {
        var promised = string.Join(", ", allowed.Order().Select(Words.Of));
        return
        [
            .. from verdict in Verdicts
               let beyond = verdict.Beyond(allowed).ToList()
               let isGivenUp = verdict.Flags.HasFlag(VerdictFlags.InErrorQueue)
               where beyond.Count > 0
               select new Violation(
                   verdict.MessageId,
                   $"message {verdict.MessageId} is {string.Join(" and ", beyond.Select(Words.Of))}; allowed: {promised}",
                   verdict.Evidence) { Known = limits.FirstOrDefault(limit => limit.Explains(beyond, isGivenUp))?.Reason },
            .. Unattributed
                .OrderBy(prepared => prepared.TransactionId)
                .ThenBy(prepared => prepared.GlobalId, StringComparer.Ordinal)
                .Select(prepared => new Violation(
                    MessageId: null,
                    $"prepared transaction {prepared.GlobalId} cannot be assigned to one message: attempts must record their transaction ids",
                    [Traces.Line(prepared)])),
        ];
    }

    /// <summary>
    /// The 95 % upper bound of the class's frequency per message if none of these messages is in it; <see langword="null"/> if one is, or if
    /// there are no messages. See <see cref="RuleOfThree"/>.
    /// </summary>
    public double? UpperBoundOf(DeliveryClass deliveryClass) =>
        Verdicts.Count > 0 && AllOf(deliveryClass).Count == 0 ? RuleOfThree.UpperBound(Verdicts.Count) : null;

    private static MessageVerdict Judge(Guid id, Traces traces, Workload workload)
    {
        var classes = Wrong.Where(rule => rule.Holds(traces, workload)).Select(rule => rule.Class).ToList();
        if (classes.Count == 0)
            classes.Add(Ends.First(end => end.Holds(traces)).Class);

        return new(
            id, classes[0], classes[1..], traces.Flags(workload.RowsPerAttempt),
            Math.Max(0, traces.Rows.Count - workload.RowsPerAttempt), [.. traces.Lines()]);
    }

    private static bool IsUnexpected(Traces traces, Workload workload) =>
        traces.Sendings.Count != 1 // An unknown message, or a producer that sent duplicates itself.
        || traces.SentAs(SendResult.Failed)
        || (workload.HasJournal && IsOfNoAttempt(traces))
        || (traces.Sink.Count > 0 && !workload.Sends)
        || (traces.Rows.Count > 0 && workload.RowsPerAttempt == 0)
        || traces.Sink.Any(row => row.Mistake is not null);

    /// <summary>True if an attempt at it has had its effect: a row, or if it inserts none, its message.</summary>
    private static bool HasEffect(Traces traces, Workload workload) => traces.Rows.Count > 0 || (workload.RowsPerAttempt == 0 && traces.Sink.Count > 0);

    // A message without an attempt is not unexpected: an endpoint can fail before its handler, and dead-letter the message.
    private static bool IsOfNoAttempt(Traces traces) =>
        traces.HasRowOfNoAttempt || (traces is { Rows.Count: > 0 } or { Sink.Count: > 0 } && traces.Attempts.Count == 0);

    /// <summary>True if something that commits with the prepared branch has visibly committed.</summary>
    private static bool HasVisibleBranch(Traces traces, Workload workload) =>
        traces.Rows.Count > 0
        || traces.Sink.Count > 0
        || (workload.ReceiveIsBranch && traces is { Queue.Count: 0, Errors: 0 });
}
