namespace Kit.Runner.Results.Points;

/// <summary>A verdict in the words of reports. Each report has its own words for a promise that was kept or broken.</summary>
public static class VerdictText
{
    /// <exception cref="ArgumentOutOfRangeException">There is no such verdict.</exception>
    public static string Of(FaultVerdict verdict, Func<string> kept, Func<string> broken)
    {
        ArgumentNullException.ThrowIfNull(kept);
        ArgumentNullException.ThrowIfNull(broken);
        return verdict switch
        {
            FaultVerdict.Kept => kept(),
            FaultVerdict.Broken => broken(),
            FaultVerdict.Void => "VOID",
            FaultVerdict.Failed => "FAILED",
            FaultVerdict.NoWindow => "no window",
            _ => throw new ArgumentOutOfRangeException(nameof(verdict), verdict, "No such verdict."),
        };
    }
}
