using Kit.Guarantees;

namespace Kit.Runner.Results.Accounts;

/// <summary>The account of a fault-free round. Without faults, every mode promises <see cref="DeliveryClass.Once"/> for every message.</summary>
public sealed class RoundAccount
{
    private const int Examples = 3;

    private RoundAccount(IReadOnlyDictionary<DeliveryClass, int> counts, IReadOnlyList<string> problems, bool isDeadLetteredAlone)
    {
        Counts = counts;
        Problems = problems;
        IsDeadLetteredAlone = isDeadLetteredAlone;
    }

    /// <summary>The number of messages in each class, including empty ones, without the warm-up.</summary>
    public IReadOnlyDictionary<DeliveryClass, int> Counts { get; }

    /// <summary>The reasons why the round is not valid, for a reader.</summary>
    public IReadOnlyList<string> Problems { get; }

    /// <summary>True if some messages are in the error queue without any effect, and nothing else is wrong.</summary>
    public bool IsDeadLetteredAlone { get; }

    /// <summary>Valid if there are no <see cref="Problems"/>.</summary>
    public RoundOutcome Outcome => Problems.Count == 0 ? RoundOutcome.Valid : RoundOutcome.Invalid(Problems);

    /// <summary>Accounts for the messages of the warm-up and of the round, and for everything else that was found.</summary>
    public static RoundAccount Of(RoundEvidence evidence)
    {
        var account = Account.Of(evidence.Found, Workload.Measured(evidence.RowsPerMessage, evidence.Deliveries));
        var verdicts = account.Verdicts.ToLookup(verdict => evidence.WarmUp.Contains(verdict.MessageId));
        var (warmUp, messages) = (ByClass(verdicts[true]), ByClass(verdicts[false]));
        var dead = messages[DeliveryClass.CleanError].ToHashSet();
        return new RoundAccount(
            Enum.GetValues<DeliveryClass>().ToDictionary(kind => kind, kind => messages[kind].Count()),
            [
                .. NotOnce(messages, "messages"),
                .. NotOnce(warmUp, "messages of the warm-up"),
                .. Mistaken(evidence.Found),
                .. LeftPrepared(evidence.Found),
                .. Miscounted(evidence),
                .. Misdelivered(evidence),
                .. Returned(evidence),
            ],
            dead.Count > 0 && Of(Without(evidence, dead)).Problems.Count == 0);
    }

    private static RoundEvidence Without(RoundEvidence evidence, HashSet<Guid> messages) => evidence with
    {
        Messages = evidence.Messages.Except(messages).ToHashSet(),
        Found = evidence.Found.Without(messages),
    };

    private static ILookup<DeliveryClass, Guid> ByClass(IEnumerable<MessageVerdict> verdicts) =>
        verdicts.ToLookup(verdict => verdict.Class, verdict => verdict.MessageId);

    /// <summary>The messages that are in another class than once, as reasons against a round.</summary>
    public static IEnumerable<string> NotOnce(ILookup<DeliveryClass, Guid> messages, string what) =>
        from kind in messages
        where kind.Key is not DeliveryClass.Once
        orderby kind.Key
        select $"{what} {Words.Of(kind.Key)}: {Figures.Count(kind.Count())} ({ExamplesOf(kind)})";

    /// <summary>The first of some messages.</summary>
    public static string ExamplesOf(IEnumerable<Guid> messages)
    {
        var ids = messages.ToList();
        return string.Join(", ", ids.Take(Examples)) + (ids.Count > Examples ? ", …" : "");
    }

    private static IEnumerable<string> Mistaken(History found)
    {
        var mistaken = found.Sink.Where(row => row.Mistake is not null).OrderBy(row => row.CausedBy).ToList();
        if (mistaken.Count > 0)
            yield return $"outgoing messages that are wrong: {Figures.Count(mistaken.Count)} (for {mistaken[0].CausedBy}: {mistaken[0].Mistake})";
    }

    private static IEnumerable<string> LeftPrepared(History found)
    {
        if (found.Prepared.Count > 0)
            yield return $"prepared transactions left: {Figures.Count(found.Prepared.Count)} ({found.Prepared.First().GlobalId})";
    }

    private static IEnumerable<string> Miscounted(RoundEvidence evidence)
    {
        var (byWarmUp, byRound) = (evidence.RowsPerMessage * evidence.WarmUp.Count, evidence.RowsPerMessage * evidence.Messages.Count);
        var expected = evidence.SeedRows + byWarmUp + byRound;
        if (evidence.TableRows != expected)
        {
            yield return $"rows: {Figures.Count(evidence.TableRows)} found, {Figures.Count(expected)} expected " +
                         $"({Figures.Count(evidence.SeedRows)} seeded, {Figures.Count(byWarmUp)} by the warm-up, {Figures.Count(byRound)} by the round)";
        }

        var messages = MessagesOf(evidence);
        if (evidence.Counted is { } counted && counted != messages)
            yield return $"messages counted in one row: {Figures.Count(counted)} found, {Figures.Count(messages)} expected";
    }

    /// <summary>A wrong number of deliveries, if each message has several. With one for each message, the classes show it.</summary>
    private static IEnumerable<string> Misdelivered(RoundEvidence evidence)
    {
        var expected = evidence.Deliveries * MessagesOf(evidence);
        if (evidence.Deliveries > 1 && evidence.Found.Sink.Count != expected)
        {
            yield return $"deliveries: {Figures.Count(evidence.Found.Sink.Count)} found, {Figures.Count(expected)} expected " +
                         $"({Figures.Count(MessagesOf(evidence))} events to {Figures.Count(evidence.Deliveries)} queues)";
        }
    }

    /// <summary>
    /// A handler that throws has not returned, so a retry after an error makes no difference. One that returned for nothing, because its commit failed or
    /// its message came twice, did work that is in the figures.
    /// </summary>
    private static IEnumerable<string> Returned(RoundEvidence evidence)
    {
        if (evidence.Handled is { } handled && WhyNotOnceEach(handled, MessagesOf(evidence)) is { } why)
            yield return why;
    }

    /// <summary>A text that says that handlers did not return once for each message; <see langword="null"/>: they did.</summary>
    public static string? WhyNotOnceEach(int handled, int messages) =>
        handled == messages ? null : $"handlers returned {Figures.Count(handled)} times for {Figures.Count(messages)} messages";

    private static int MessagesOf(RoundEvidence evidence) => evidence.WarmUp.Count + evidence.Messages.Count;
}

/// <summary>The findings after the drain of a fault-free round, before they are judged.</summary>
public sealed record RoundEvidence
{
    /// <summary>The measured messages.</summary>
    public required IReadOnlySet<Guid> Messages { get; init; }

    /// <summary>The messages of the warm-up drain.</summary>
    public required IReadOnlySet<Guid> WarmUp { get; init; }

    /// <summary>The traces of the warm-up and of the measured messages, without the seeded rows.</summary>
    public required History Found { get; init; }

    /// <summary>Returns of a handler, for the messages of both; <see langword="null"/>: not counted.</summary>
    public required int? Handled { get; init; }

    /// <summary>Rows that its handler inserts for each message.</summary>
    public int RowsPerMessage { get; init; } = 1;

    /// <summary>Queues in which the handler's message must arrive: the subscribers of an event; 0: it sends nothing.</summary>
    public required int Deliveries { get; init; }

    /// <summary>Rows in the restored table before the first message.</summary>
    public required long SeedRows { get; init; }

    /// <summary>All rows of the table, including seeded ones, as the database counts them.</summary>
    public required long TableRows { get; init; }

    /// <summary>The messages that the handlers counted themselves, in one row; <see langword="null"/>: they count none.</summary>
    public required long? Counted { get; init; }
}
