using System.Text.Json.Serialization;
using Kit.Guarantees;
using Kit.Runner.Results.Accounts;
using Kit.Runner.Results.Points;
using MathNet.Numerics.Statistics;

namespace Kit.Runner.Results.Faults;

/// <summary>The result of one cell under one fault, at one point of a handling, or in a storm: a line of <c>faults.jsonl</c>.</summary>
public sealed record FaultResult : IPointResult
{
    private readonly int? messagesNotPromised;

    public int Schema { get; init; } = ResultJson.Schema;

    public required CellName Cell { get; init; }

    /// <summary>The fault's name, the end of the point's token, or <see cref="StormFacts.Name"/>.</summary>
    public required string Fault { get; init; }

    public required FaultVerdict Verdict { get; init; }

    /// <summary>The reason why it is void, failed or has no window; <see langword="null"/> otherwise.</summary>
    [JsonInclude]
    public string? Because { get; init; }

    /// <summary>The classes promised for the messages that met the fault.</summary>
    public IReadOnlyList<DeliveryClass> Promised { get; init; } = [];

    /// <summary>The classes of those messages, with their numbers.</summary>
    public IReadOnlyList<Observation> Observed { get; init; } = [];

    /// <summary>The number of messages in each class; every message is in one.</summary>
    public IReadOnlyDictionary<DeliveryClass, int> Counts { get; init; } = new Dictionary<DeliveryClass, int>();

    /// <summary>The evidence that the fault fired.</summary>
    public IReadOnlyList<string> Fired { get; init; } = [];

    /// <summary>
    /// The findings for the message that met the fault; after a crash of a server, for the first messages of each class except once.
    /// </summary>
    public IReadOnlyList<string> Evidence { get; init; } = [];

    /// <summary>Some of the broken promises with their evidence: see <see cref="StoredOf"/>.</summary>
    public IReadOnlyList<Violation> Violations { get; init; } = [];

    /// <summary>The total number of violations.</summary>
    public int ViolationCount { get; init; }

    /// <summary>
    /// The messages of the violations, each once. A violation without a message is about all of them, or about none. Folders of earlier builds do not have the
    /// number: there it is that of the violations, without the stored ones that have no message, which can be too many.
    /// </summary>
    public int MessagesNotPromised
    {
        get => messagesNotPromised ?? ViolationCount - Violations.Count(violation => violation.MessageId is null);
        init => messagesNotPromised = value;
    }

    public double Seconds { get; init; }

    /// <summary>The facts of a storm; <see langword="null"/> for a single fault.</summary>
    [JsonInclude]
    public StormFacts? Storm { get; init; }

    /// <summary>The point of a handling that was met; absent for other experiments.</summary>
    public PointFacts? Point { get; init; }

    /// <summary>True if the promise was broken although the point was not met, and nothing was cut, killed or withheld.</summary>
    [JsonIgnore(Condition = JsonIgnoreCondition.WhenWritingDefault)]
    public bool IsWithoutFault { get; init; }

    /// <summary>
    /// True if it shows what became of a message that met its point. In the folders of earlier builds also if the process was killed elsewhere.
    /// </summary>
    public bool HasMetPoint => Point is { IsElsewhere: false } && Verdict.IsConclusive() && !IsWithoutFault;

    /// <summary>The reasons why each try before this one does not count, at a point; absent: there was none.</summary>
    public IReadOnlyList<string>? Discarded { get; init; }

    /// <summary>The messages handled again after a server had crashed; absent for other faults.</summary>
    public HandledAgain? HandledAgain { get; init; }

    /// <summary>The line in its file, from 1; 0 for one that was not read from a file.</summary>
    [JsonIgnore]
    public int Line { get; init; }

    /// <summary>
    /// The verdicts, in words, that do not count: of a broken one, the repetitions that did not break the promise again, or only for a known reason; of
    /// another, the earlier ones that showed nothing, with the reason.
    /// </summary>
    [JsonIgnore]
    public IReadOnlyList<string> Repeated { get; init; } = [];

    /// <summary>The reasons why it was tried again, in this command and in earlier ones.</summary>
    [JsonIgnore]
    public IReadOnlyList<string> Before => [.. Repeated, .. Discarded ?? []];

    /// <summary>True if promises are kept, or the cell has no such moment.</summary>
    public bool IsGood => Verdict is FaultVerdict.Kept or FaultVerdict.NoWindow;

    /// <summary>The reason why the promise is broken, if every violation has a known one; otherwise <see langword="null"/>.</summary>
    public string? Known => Verdict is FaultVerdict.Broken && Violations.Count > 0 && Violations.All(violation => violation.Known is not null)
        ? string.Join("; ", Violations.Select(violation => violation.Known).Distinct())
        : null;

    /// <summary>
    /// The classes, with their numbers, that are not promised and that no stored violation names: in folders of older kits, which stored the first violations
    /// alone. Nobody can say why these are there.
    /// </summary>
    [JsonIgnore]
    public IEnumerable<Observation> WithoutEvidence => Violations.Count == ViolationCount ? [] : Observed.Where(seen =>
        !Promised.Contains(seen.Class) && !Violations.Any(violation => violation.Classes.Contains(seen.Class)));

    public int Messages => Counts.Values.Sum();

    /// <summary>The name of the experiment.</summary>
    public string Name => Point?.Token ?? NameOf(Cell, Fault);

    /// <summary>True if it is a storm; one that failed has no facts.</summary>
    public bool IsStorm => Fault == StormFacts.Name;

    /// <summary>True if it is one of the named faults, and neither a storm nor a point of a handling.</summary>
    public bool IsSingleFault => !IsStorm && Point is null;

    /// <summary>True if something was weakened, so that promises break on purpose: it proves nothing about its mode.</summary>
    public bool IsWeakened => Storm?.Unflushed is not null;

    /// <summary>The result with what broke its promise.</summary>
    public FaultResult With(IReadOnlyCollection<Violation> violations) => this with
    {
        Violations = StoredOf(violations),
        ViolationCount = violations.Count,
        MessagesNotPromised = violations.Select(violation => violation.MessageId).OfType<Guid>().Distinct().Count(),
    };

    /// <summary>The result if something fails after it, such as the removal of what is left. What was broken stays broken.</summary>
    public FaultResult FailedAfterwards(string because) => Verdict is FaultVerdict.Broken
        ? this with { Fired = [.. Fired, because] }
        : new FaultResult { Cell = Cell, Fault = Fault, Verdict = FaultVerdict.Failed, Because = because, Fired = Fired };

    /// <summary>The result of an experiment that was made again. No repetition hides what was broken once, nor that nothing was shown.</summary>
    public FaultResult After(FaultResult? earlier) =>
        earlier is null ? this
        : earlier.Verdict is not FaultVerdict.Broken
            ? this with { Repeated = earlier.IsGood ? earlier.Repeated : [.. earlier.Repeated, $"{Words.Of(earlier.Verdict)}: {earlier.Because}"] }
        : Verdict is FaultVerdict.Broken && (Known is null || earlier.Known is not null) ? this with { Repeated = earlier.Repeated }
        : earlier with { Repeated = [.. earlier.Repeated, Known is null ? Words.Of(Verdict) : "broken for a known reason"] };

    public static string NameOf(CellName cell, string fault) => $"{cell.FileName}.{fault}";

    /// <summary>
    /// The violations whose evidence is stored: one of each combination of classes and reason, so that <see cref="Known"/> has every reason, and the first
    /// few. Those without a known reason come first.
    /// </summary>
    public static IReadOnlyList<Violation> StoredOf(IEnumerable<Violation> violations)
    {
        const int Few = 5;
        var kinds = violations.GroupBy(violation => (Words.Of(violation.Classes), violation.Known)).OrderBy(kind => kind.Key.Known is not null).ToList();
        return
        [
            .. kinds.Select(kind => kind.First()).Concat(kinds.SelectMany(kind => kind.Skip(1)).Take(Few - kinds.Count))
                .OrderBy(violation => violation.Known is not null),
        ];
    }
}

/// <summary>The number of messages in a class, alone or among others.</summary>
public sealed record Observation(DeliveryClass Class, int Messages);

/// <summary>The facts of a storm.</summary>
/// <param name="Seed">For its random moments.</param>
/// <param name="Cuts">Cuts of every connection of the endpoint.</param>
/// <param name="InFlight">Handlers that could be running at those moments, summed up. A broker can have pushed more messages to the process.</param>
/// <param name="Windows">Points at which the kills met the kit's two-phase commit; <see langword="null"/> in a mode without it.</param>
public sealed record StormFacts(int Seed, int Kills, int Cuts, int InFlight, WindowsMet? Windows = null)
{
    /// <summary>Planned faults of all kinds; absent in older folders.</summary>
    public int? Asked { get; init; }

    /// <summary>
    /// The reason why it shows nothing: fewer faults happened than were planned; <see langword="null"/>: they all did, or the plan is unknown.
    /// </summary>
    public string? Shortfall => Kills + Cuts + ServerCrashes is var happened && happened < Asked
        ? $"{happened} of {Asked} faults happened, and a storm shows nothing without them all: {Done}"
        : null;

    /// <summary>
    /// The faults at whose moment a handler was running: one that had been entered since the fault before, and had not returned. Absent in older folders.
    /// </summary>
    public int? InHandlers { get; init; }

    /// <summary>Crashes of the database server.</summary>
    [JsonIgnore(Condition = JsonIgnoreCondition.WhenWritingDefault)]
    public int ServerCrashes { get; init; }

    /// <summary>
    /// Messages that were handled again after their handler had returned, if the server crashed: their commit was lost, or had not been made.
    /// </summary>
    public int? Again { get; init; }

    /// <summary>The endpoint's connections that had <c>synchronous_commit = off</c> against the mode's needs; absent if none had.</summary>
    public string? Unflushed { get; init; }

    /// <summary>Faults of all kinds that happened.</summary>
    public int Faults => Kills + Cuts + ServerCrashes;

    /// <summary>The kills that met a message, if each fault was a kill and it was looked at; <see langword="null"/> otherwise.</summary>
    public int? MeetingKills => Cuts + ServerCrashes == 0 && Windows is { } windows ? Kills - windows.NoneOpen : null;

    /// <summary>
    /// The independent chances to see a class: the kills that met a message, or the faults. The messages that one fault meets are not independent.
    /// </summary>
    public int Chances => MeetingKills ?? Faults;

    /// <summary>
    /// The 95 % upper bound of the share of the chances, from 0 to 1, that show a class which none showed; <see langword="null"/>: there were none.
    /// </summary>
    public double? UpperBound => Chances > 0 ? RuleOfThree.UpperBound(Chances) : null;

    /// <summary>The numbers of faults in words, with what was weakened for them.</summary>
    public string Happened => Numbers + Weakened;

    /// <summary>The faults in words, with what they met.</summary>
    public string Done => Numbers
        + (InHandlers is { } inHandlers ? $" ({inHandlers} while a handler was running)" : "")
        + (Again is { } again ? $", {again} messages handled again after their handler had returned" : "")
        + Weakened;

    private string Numbers => $"{Kills} kills and {Cuts} cuts of all connections"
        + (ServerCrashes > 0 ? $", {ServerCrashes} crashes of the database server" : "");

    /// <summary>The weakness against the mode's needs, as the end of a clause; empty if there was none.</summary>
    public string Weakened => Unflushed is null ? "" : $", with synchronous_commit = off for {Unflushed}";

    /// <summary>Messages in another class than once; absent if they were not compared with a limit.</summary>
    public int? Touched { get; init; }

    /// <summary>The most that are allowed; absent if no number is promised.</summary>
    public int? MostTouched { get; init; }

    /// <summary>The violation if there are too many; <see langword="null"/> if there are not.</summary>
    public Violation? TooMany => Touched > MostTouched
        ? new Violation(MessageId: null, $"{Touched} messages were not handled exactly once; {Done} may affect {MostTouched}", [])
        : null;

    /// <summary>
    /// Milliseconds from the start of a new process after each kill until the next handler had returned, ascending; absent if it was
    /// not measured, as in the folders of older kits.
    /// </summary>
    public IReadOnlyList<double>? RestartMilliseconds { get; init; }

    /// <summary>The median of the restarts, in ms.</summary>
    public double? RestartP50 => RestartMilliseconds is { Count: > 0 } times ? Math.Round(times.Quantile(0.5), 1) : null;

    /// <summary>The longest restart, in ms.</summary>
    public double? RestartMost => RestartMilliseconds is { Count: > 0 } times ? times[^1] : null;

    public const string Name = "storm";
}

/// <summary>The number of messages handled before a crash of a server that were handled again after it.</summary>
/// <param name="Returned">Messages whose handler had returned before the crash. The endpoint may not have committed the last one of each worker.</param>
/// <param name="Again">Handled messages for which a handler was entered after the crash. An endpoint that stores ids enters none.</param>
public sealed record HandledAgain(int Returned, int Again)
{
    /// <param name="crash">The moment before it, by the clock of the journal.</param>
    public static HandledAgain Of(IEnumerable<AttemptLine> attempts, DateTimeOffset crash)
    {
        var lines = attempts.ToList();
        var returned = lines.Where(line => line.Point is AttemptPoint.Returned && line.At < crash).Select(line => line.MessageId).ToHashSet();
        var entered = lines.Where(line => line.Point is AttemptPoint.Started && line.At >= crash).Select(line => line.MessageId).ToHashSet();
        return new HandledAgain(returned.Count, returned.Count(entered.Contains));
    }

    /// <summary>Messages for which a handler was entered after another attempt at them had returned.</summary>
    public static int CountIn(IEnumerable<AttemptLine> attempts) => attempts.GroupBy(line => line.MessageId).Count(lines =>
        lines.Where(line => line.Point is AttemptPoint.Returned).Min(line => line.At) is { } returned
        && lines.Any(line => line.Point is AttemptPoint.Started && line.At > returned));

    public override string ToString() =>
        $"{Figures.Count(Again)} of the {Figures.Count(Returned)} messages whose handler had returned were handled again" +
        (Returned > 0 ? $" ({Figures.Share((double)Again / Returned)})" : "");
}
