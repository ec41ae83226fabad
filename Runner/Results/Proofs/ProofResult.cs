using System.Text.Json.Serialization;
using Kit.Guarantees;
using Kit.Runner.Results.Points;

namespace Kit.Runner.Results.Proofs;

/// <summary>The outcome of the message of an application that met one point.</summary>
public sealed record ProofResult : IPointResult
{
    /// <summary>The place and the time of the point.</summary>
    public required PointFacts Point { get; init; }

    public required FaultVerdict Verdict { get; init; }

    /// <summary>The reason why it is VOID or failed; <see langword="null"/> if it is neither.</summary>
    [JsonInclude]
    public string? Because { get; init; }

    /// <summary>The class of the message; <see langword="null"/>: its point was not met.</summary>
    [JsonInclude]
    public DeliveryClass? Class { get; init; }

    /// <summary>
    /// In way d, the time that the process had waited for the answer when it was killed, in seconds; <see langword="null"/>: it was not killed for that,
    /// because it got over it or ended by itself, or because the way is another.
    /// </summary>
    [JsonInclude]
    public double? KilledAfterSeconds { get; init; }

    /// <summary>The found effects.</summary>
    public IReadOnlyList<FoundEffect> Found { get; init; } = [];

    /// <summary>The broken promises, as sentences.</summary>
    public IReadOnlyList<string> Violations { get; init; } = [];

    /// <summary>The events, if the message was not handled once, or a promise was broken.</summary>
    public IReadOnlyList<TimelineStep> Timeline { get; init; } = [];

    /// <summary>The reasons why each try before this one does not count.</summary>
    public IReadOnlyList<string> Discarded { get; init; } = [];

    /// <summary>The dead letters whose table or queue was never there until then.</summary>
    public IReadOnlyList<string> Absent { get; init; } = [];

    /// <summary>The verdicts, in words, of repetitions that did not break the promise again. It stays broken.</summary>
    public IReadOnlyList<string> Repeated { get; init; } = [];

    /// <summary>True if the promise was broken although the point was not met, and nothing was cut, killed or withheld.</summary>
    [JsonIgnore(Condition = JsonIgnoreCondition.WhenWritingDefault)]
    public bool IsWithoutFault { get; init; }

    /// <summary>True if work was left and nothing moved until leases were made old, as the file says, and none was left after that.</summary>
    [JsonIgnore(Condition = JsonIgnoreCondition.WhenWritingDefault)]
    public bool IsAfterLease { get; init; }

    /// <summary>Duration of all tries together.</summary>
    public double Seconds { get; init; }

    /// <summary>The class of the message, and ≠ if the promise was broken.</summary>
    /// <param name="promised">The promised classes.</param>
    public string KindAmong(IReadOnlyList<DeliveryClass> promised) => VerdictText.Of(
        Verdict,
        () => Words.Of(Class!.Value),
        () => IsWithoutFault ? $"≠ {Words.Of(Class!.Value)} without a crash"
            : promised.Contains(Class!.Value) ? $"{Words.Of(Class.Value)}, ≠ afterwards"
            : $"≠ {Words.Of(Class.Value)}");

    /// <summary>The result of a point that was met again. What was broken once is broken: no repetition hides it.</summary>
    public ProofResult After(ProofResult? earlier) => earlier is not { Verdict: FaultVerdict.Broken } ? this
        : Verdict is FaultVerdict.Broken ? this with { Repeated = earlier.Repeated }
        : earlier with { Repeated = [.. earlier.Repeated, Verdict is FaultVerdict.Kept ? Words.Of(Class!.Value) : $"{Verdict}: {Because}"] };

    /// <summary>True if it shows something, about its point or without it.</summary>
    [JsonInclude]
    public bool IsConclusive => Verdict.IsConclusive();

    /// <summary>
    /// True if it shows what became of a message that met its point. In the documents of earlier builds also if the process was killed elsewhere.
    /// </summary>
    public bool HasMetPoint => IsConclusive && !IsWithoutFault && !Point.IsElsewhere;
}

/// <summary>The number of times that an effect of a message was found.</summary>
/// <param name="Effect">Name in the proof file.</param>
/// <param name="PerMessage">Number of times that it exists if the message was handled once; <see cref="NeverThere"/> for a dead letter.</param>
public sealed record FoundEffect(string Effect, int Count, int PerMessage)
{
    /// <summary>Number of times that a dead letter exists if the message was handled once.</summary>
    public const int NeverThere = 0;

    /// <summary>True if it exists only after the application has given the message up.</summary>
    public bool IsDeadLetter => PerMessage == NeverThere;

    public override string ToString() =>
        IsDeadLetter ? FormattableString.Invariant($"{Effect}: {Count}") : FormattableString.Invariant($"{Effect}: {Count} of {PerMessage}");
}
