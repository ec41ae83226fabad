namespace Kit.Runner.Results;

/// <summary>What two means allow to be said.</summary>
public enum ComparisonVerdict
{
    Faster,
    Slower,

    /// <summary>The confidence intervals overlap.</summary>
    NoDifferenceShown,

    /// <summary>Fewer than <see cref="Comparison.EnoughRounds"/> rounds on one side.</summary>
    TooFewRounds,
}

/// <summary>A mean rate set against another of the same run.</summary>
/// <param name="Ratio">Mean divided by the baseline's mean.</param>
/// <param name="Verdict">What may be concluded.</param>
public sealed record Comparison(double Ratio, ComparisonVerdict Verdict)
{
    public const int EnoughRounds = 5;

    /// <summary>
    /// Two 95 % intervals that keep apart show a difference; the opposite does not show that there is none. The test is stricter than
    /// one of the difference itself (Schenker and Gentleman, The American Statistician 55, 2001).
    /// </summary>
    public static Comparison Of(Estimate rate, Estimate baseline) => new(rate.Mean / baseline.Mean, VerdictOf(rate, baseline));

    private static ComparisonVerdict VerdictOf(Estimate rate, Estimate baseline)
    {
        if (Math.Min(rate.Count, baseline.Count) < EnoughRounds)
            return ComparisonVerdict.TooFewRounds;
        if (rate.Low > baseline.High)
            return ComparisonVerdict.Faster;
        return rate.High < baseline.Low ? ComparisonVerdict.Slower : ComparisonVerdict.NoDifferenceShown;
    }

    public override string ToString() => $"{Figures.Measured(Ratio)} ({Reading})";

    private string Reading => Verdict switch
    {
        ComparisonVerdict.Faster => "faster",
        ComparisonVerdict.Slower => "slower",
        ComparisonVerdict.NoDifferenceShown => "intervals overlap",
        _ => $"n < {Figures.Plain(EnoughRounds)}",
    };
}
