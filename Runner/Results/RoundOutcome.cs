namespace Kit.Runner.Results;

/// <summary>The verdict on a round's figures: usable only if valid.</summary>
public enum Verdict
{
    /// <summary>Every message and every row was accounted for.</summary>
    Valid,

    /// <summary>The drain ended, but its messages or rows are not as they must be.</summary>
    Invalid,

    /// <summary>The drain made no progress and was ended.</summary>
    Stalled,

    /// <summary>The round failed before or during its drain.</summary>
    Error,
}

/// <summary>The verdict on a round, with the reasons if it failed.</summary>
/// <param name="Reasons">Empty for a valid round, otherwise at least one.</param>
public sealed record RoundOutcome(Verdict Verdict, IReadOnlyList<string> Reasons)
{
    public static RoundOutcome Valid { get; } = new(Verdict.Valid, []);

    public static RoundOutcome Invalid(IReadOnlyList<string> reasons) => new(Verdict.Invalid, reasons);

    public static RoundOutcome Stalled(string because) => new(Verdict.Stalled, [because]);

    public static RoundOutcome Error(string because) => new(Verdict.Error, [because]);

    public bool IsValid() => Verdict is Verdict.Valid;

    public override string ToString() => Verdict switch
    {
        Verdict.Valid => "valid",
        Verdict.Invalid => "INVALID",
        Verdict.Stalled => "stalled",
        Verdict.Error => "error",
        _ => $"{Verdict}",
    };
}
