namespace Kit.Runner.Results;

/// <summary>
/// Accounts for every message of a fault-free round: pure code over what was found. The classes partition the messages, because
/// each message is given the first class whose rule holds and the last rule always does.
/// </summary>
public sealed class Accounting
{
    private const int Examples = 3;

    /// <summary>From the gravest down. A richer accountant adds a trace and a rule.</summary>
    private static readonly IReadOnlyList<(MessageClass Class, Func<Traces, bool> Holds)> Rules =
    [
        (MessageClass.Unexpected, traces => !traces.Sent),
        (MessageClass.Duplicated, traces => traces.Rows > 1),
        (MessageClass.Error, traces => traces.InErrorQueue),
        (MessageClass.Stuck, traces => traces.InQueue),
        (MessageClass.Lost, traces => traces.Rows == 0),
        (MessageClass.Once, _ => true),
    ];

    private Accounting(IReadOnlyDictionary<MessageClass, int> counts, IReadOnlyList<string> problems)
    {
        Counts = counts;
        Problems = problems;
    }

    /// <summary>Messages by class, every class named. All but <see cref="MessageClass.Unexpected"/> add up to the messages.</summary>
    public IReadOnlyDictionary<MessageClass, int> Counts { get; }

    /// <summary>What keeps the round from being valid, in words for a reader.</summary>
    public IReadOnlyList<string> Problems { get; }

    public RoundOutcome Outcome => Problems.Count == 0 ? RoundOutcome.Valid : RoundOutcome.Invalid(Problems);

    public static Accounting Of(Evidence evidence)
    {
        var errors = evidence.ErrorQueue.ToHashSet();
        var queued = evidence.Queue.ToHashSet();

        MessageClass ClassOf(Guid id, bool sent)
        {
            var traces = new Traces(sent, evidence.RowsByMessage.GetValueOrDefault(id), errors.Contains(id), queued.Contains(id));
            return Rules.First(rule => rule.Holds(traces)).Class;
        }

        var strangers = evidence.RowsByMessage.Keys.Concat(errors).Concat(queued)
            .Distinct()
            .Where(id => !evidence.Messages.Contains(id) && !evidence.WarmUp.Contains(id));
        var classes = evidence.Messages.Select(id => (Id: id, Class: ClassOf(id, sent: true)))
            .Concat(strangers.Select(id => (Id: id, Class: ClassOf(id, sent: false))))
            .ToLookup(message => message.Class, message => message.Id);
        var warmUp = evidence.WarmUp.ToLookup(id => ClassOf(id, sent: true));

        return new Accounting(
            Enum.GetValues<MessageClass>().ToDictionary(kind => kind, kind => classes[kind].Count()),
            [
                .. Misplaced(classes, "messages"),
                .. Misplaced(warmUp, "messages of the warm-up"),
                .. LeftPrepared(evidence),
                .. Miscounted(evidence),
            ]);
    }

    private static IEnumerable<string> Misplaced(ILookup<MessageClass, Guid> classes, string what) =>
        Rules.Where(rule => rule.Class is not MessageClass.Once && classes.Contains(rule.Class))
            .Select(rule => $"{what} {NameOf(rule.Class)}: {Figures.Count(classes[rule.Class].Count())} ({ExamplesOf(classes[rule.Class])})");

    private static string NameOf(MessageClass kind) => kind switch
    {
        MessageClass.Error => "in the error queue",
        MessageClass.Stuck => "still in the queue",
        MessageClass.Duplicated => "with more than one row",
        MessageClass.Unexpected => "never sent, yet found",
        MessageClass.Lost => "lost",
        _ => "handled once",
    };

    private static string ExamplesOf(IEnumerable<Guid> ids)
    {
        var ordered = ids.Order().ToList();
        return string.Join(", ", ordered.Take(Examples)) + (ordered.Count > Examples ? ", …" : "");
    }

    private static IEnumerable<string> LeftPrepared(Evidence evidence)
    {
        if (evidence.PreparedTransactions > 0)
            yield return $"prepared transactions left: {Figures.Count(evidence.PreparedTransactions)}";
    }

    private static IEnumerable<string> Miscounted(Evidence evidence)
    {
        var expected = evidence.SeedRows + evidence.WarmUp.Count + evidence.Messages.Count;
        if (evidence.TableRows != expected)
        {
            yield return $"rows: {Figures.Count(evidence.TableRows)} found, {Figures.Count(expected)} expected " +
                         $"({Figures.Count(evidence.SeedRows)} seeded, {Figures.Count(evidence.WarmUp.Count)} by the warm-up, " +
                         $"{Figures.Count(evidence.Messages.Count)} by the round)";
        }
    }

    /// <summary>Where a message left a trace.</summary>
    private sealed record Traces(bool Sent, int Rows, bool InErrorQueue, bool InQueue);
}
