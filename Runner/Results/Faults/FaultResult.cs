using System.Text.Json.Serialization;
using Kit.Guarantees;
using Kit.Runner.Results.Accounts;
using MathNet.Numerics.Statistics;

namespace Kit.Runner.Results.Faults;

/// <summary>How an experiment ended.</summary>
public enum FaultVerdict
{
    /// <summary>The fault fired, and every message is of a promised class.</summary>
    Kept,

    /// <summary>The fault fired, and a message is of a class that is not promised.</summary>
    Broken,

    /// <summary>The fault did not fire where it should have: nothing is shown, and that counts as a failure.</summary>
    Void,

    /// <summary>The cell has no such moment.</summary>
    NoWindow,

    /// <summary>The experiment itself failed.</summary>
    Failed,
}

/// <summary>What became of one cell under one fault, or in a storm of them: a line of <c>faults.jsonl</c>.</summary>
public sealed record FaultResult
{
    public int Schema { get; init; } = ResultJson.Schema;

    public required CellName Cell { get; init; }

    /// <summary>The fault's name, or <see cref="StormFacts.Name"/>.</summary>
    public required string Fault { get; init; }

    public required FaultVerdict Verdict { get; init; }

    /// <summary>Why it is void, failed or has no window; <see langword="null"/> otherwise.</summary>
    public string? Because { get; init; }

    /// <summary>The classes that were promised to the messages that met the fault.</summary>
    public IReadOnlyList<DeliveryClass> Promised { get; init; } = [];

    /// <summary>The classes that those messages are of, and how many of them.</summary>
    public IReadOnlyList<Observation> Observed { get; init; } = [];

    /// <summary>All messages by class; every message in one.</summary>
    public IReadOnlyDictionary<DeliveryClass, int> Counts { get; init; } = new Dictionary<DeliveryClass, int>();

    /// <summary>What shows that the fault fired.</summary>
    public IReadOnlyList<string> Fired { get; init; } = [];

    /// <summary>
    /// What was found of the message that met the fault; with a server that crashes, of the first messages of each class but once.
    /// </summary>
    public IReadOnlyList<string> Evidence { get; init; } = [];

    /// <summary>What was not promised, each with what was found; at most the first few, those without a known reason before the others.</summary>
    public IReadOnlyList<Violation> Violations { get; init; } = [];

    /// <summary>How many there are in all.</summary>
    public int ViolationCount { get; init; }

    public double Seconds { get; init; }

    /// <summary>What was done in a storm; <see langword="null"/> for a single fault.</summary>
    public StormFacts? Storm { get; init; }

    /// <summary>What was handled again after a server had crashed; absent for other faults.</summary>
    [JsonIgnore(Condition = JsonIgnoreCondition.WhenWritingNull)]
    public HandledAgain? HandledAgain { get; init; }

    /// <summary>Whether it shows that promises are kept, or that there is nothing to show.</summary>
    [JsonIgnore]
    public bool IsGood => Verdict is FaultVerdict.Kept or FaultVerdict.NoWindow;

    /// <summary>Why the promise is not kept, where every violation has a known reason; <see langword="null"/> otherwise.</summary>
    [JsonIgnore]
    public string? Known => Verdict is FaultVerdict.Broken && Violations.Count > 0 && Violations.All(violation => violation.Known is not null)
        ? string.Join("; ", Violations.Select(violation => violation.Known).Distinct())
        : null;

    [JsonIgnore]
    public int Messages => Counts.Values.Sum();

    /// <summary>The name of the experiment.</summary>
    [JsonIgnore]
    public string Name => NameOf(Cell, Fault);

    public static string NameOf(CellName cell, string fault) => $"{cell.FileName}.{fault}";
}

/// <summary>How many messages are of a class, alone or among others.</summary>
public sealed record Observation(DeliveryClass Class, int Messages);

/// <summary>What was done in a storm.</summary>
/// <param name="Seed">Of the moments at which it was done.</param>
/// <param name="Kills">How often the handler process was killed.</param>
/// <param name="Cuts">How often every connection of the endpoint was cut.</param>
/// <param name="InFlight">Handlers that could be running at those moments, all moments together: what the rates refer to.</param>
/// <param name="Windows">Where the kills met the kit's two-phase commit; <see langword="null"/> in a mode without it.</param>
public sealed record StormFacts(int Seed, int Kills, int Cuts, int InFlight, WindowsMet? Windows = null)
{
    /// <summary>How often the database server crashed.</summary>
    [JsonIgnore(Condition = JsonIgnoreCondition.WhenWritingDefault)]
    public int ServerCrashes { get; init; }

    /// <summary>
    /// Messages that were handled again although their handler had returned, where the server crashed: their commit was lost, or was not made yet.
    /// </summary>
    [JsonIgnore(Condition = JsonIgnoreCondition.WhenWritingNull)]
    public int? Again { get; init; }

    /// <summary>The endpoint's connections that had <c>synchronous_commit = off</c> against the mode's needs; absent where none had.</summary>
    [JsonIgnore(Condition = JsonIgnoreCondition.WhenWritingNull)]
    public string? Unflushed { get; init; }

    /// <summary>What was done, in words.</summary>
    [JsonIgnore]
    public string Done => $"{Kills} kills and {Cuts} cuts of all connections"
        + (ServerCrashes > 0 ? $", {ServerCrashes} crashes of the database server" : "")
        + (Again is { } again ? $", {again} messages handled again after their handler had returned" : "")
        + (Unflushed is null ? "" : $", with synchronous_commit = off for {Unflushed}");

    /// <summary>Messages that are of another class than once; absent where they were not held against a number.</summary>
    [JsonIgnore(Condition = JsonIgnoreCondition.WhenWritingNull)]
    public int? Touched { get; init; }

    /// <summary>The most that may be; absent where no number is promised.</summary>
    [JsonIgnore(Condition = JsonIgnoreCondition.WhenWritingNull)]
    public int? MostTouched { get; init; }

    /// <summary>What is not promised of their number; <see langword="null"/>: nothing.</summary>
    [JsonIgnore]
    public Violation? TooMany => Touched > MostTouched
        ? new Violation(MessageId: null, $"{Touched} messages are not once; {Done} may touch {MostTouched}", [])
        : null;

    /// <summary>
    /// Milliseconds from each kill or cut until a message that was sent after it had been handled, ascending, a new process included; absent
    /// where it was not measured.
    /// </summary>
    [JsonIgnore(Condition = JsonIgnoreCondition.WhenWritingNull)]
    public IReadOnlyList<double>? RecoveryMilliseconds { get; init; }

    /// <summary>Half of the recoveries took no longer.</summary>
    [JsonIgnore]
    public double? RecoveryP50 => RecoveryMilliseconds is { Count: > 0 } times ? Math.Round(times.Quantile(0.5), 1) : null;

    /// <summary>The longest.</summary>
    [JsonIgnore]
    public double? RecoveryMost => RecoveryMilliseconds is { Count: > 0 } times ? times[^1] : null;

    public const string Name = "storm";
}
