namespace Kit.Runner.Results.Points;

/// <summary>The result of an experiment.</summary>
public enum FaultVerdict
{
    /// <summary>The fault fired, and every message is in a promised class.</summary>
    Kept,

    /// <summary>The fault fired, and a message is in a class that is not promised.</summary>
    Broken,

    /// <summary>The fault did not fire: the experiment shows nothing, and that counts as a failure.</summary>
    Void,

    /// <summary>The cell has no such moment.</summary>
    NoWindow,

    /// <summary>The experiment itself failed.</summary>
    Failed,
}

/// <summary>What verdicts have in common.</summary>
public static class FaultVerdicts
{
    /// <summary>True if the experiment shows whether its promise is kept.</summary>
    public static bool IsConclusive(this FaultVerdict verdict) => verdict is FaultVerdict.Kept or FaultVerdict.Broken;

    /// <summary>True if it was to show that, and did not.</summary>
    public static bool ShowsNothing(this FaultVerdict verdict) => verdict is FaultVerdict.Void or FaultVerdict.Failed;
}

/// <summary>A verdict in the words of reports. Each report has its own words for a promise that was kept or broken.</summary>
public static class VerdictText
{
    /// <exception cref="ArgumentOutOfRangeException">There is no such verdict.</exception>
    public static string Of(FaultVerdict verdict, Func<string> kept, Func<string> broken) => verdict switch
    {
        FaultVerdict.Kept => kept(),
        FaultVerdict.Broken => broken(),
        FaultVerdict.Void => "VOID",
        FaultVerdict.Failed => "FAILED",
        FaultVerdict.NoWindow => "no window",
        _ => throw new ArgumentOutOfRangeException(nameof(verdict), verdict, "No such verdict."),
    };
}

/// <summary>The findings of an experiment at a point.</summary>
public interface IPointResult
{
    FaultVerdict Verdict { get; }

    /// <summary>The reason why it is VOID or failed; <see langword="null"/> if it is neither.</summary>
    string? Because { get; }
}
