namespace Kit.Runner.Results.Points;

/// <summary>A verdict as reports show it. What was kept or broken, each report says in its own words.</summary>
public static class VerdictText
{
    /// <param name="verdict">The verdict.</param>
    /// <param name="kept">The words for a promise that was kept.</param>
    /// <param name="broken">The words for one that was broken.</param>
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
