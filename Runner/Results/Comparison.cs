namespace Kit.Runner.Results;

/// <summary>What a ratio allows to be said.</summary>
public enum ComparisonVerdict
{
    Faster,
    Slower,

    /// <summary>The adjusted interval reaches into the margin. That does not show that there is no difference.</summary>
    NoClearDifference,

    /// <summary>Fewer than <see cref="Comparison.EnoughRounds"/> pairs of rounds.</summary>
    TooFewRounds,
}

/// <summary>A rate set against a reference, judged together with the other cells that are compared.</summary>
/// <param name="Ratio">Rate divided by reference, by round.</param>
/// <param name="Verdict">What may be concluded.</param>
/// <param name="Level">The alpha of the adjusted interval; <see langword="null"/> where too few rounds allow none.</param>
public sealed record Comparison(RateRatio Ratio, ComparisonVerdict Verdict, double? Level)
{
    public const int EnoughRounds = 5;

    /// <summary>Of the 95 % intervals, and of all verdicts of one table together.</summary>
    public const double Alpha = 0.05;

    /// <summary>
    /// The 95 % interval of this ratio by itself; <see langword="null"/> where too few rounds allow none that says anything.
    /// </summary>
    public RatioInterval? Interval => Level is null ? null : Ratio.IntervalAt(Alpha);

    /// <summary>The interval that the verdict goes by: wider, the more cells are compared.</summary>
    public RatioInterval? Adjusted => Level is { } level ? Ratio.IntervalAt(level) : null;

    /// <summary>
    /// Judges cells together. One is faster or slower only where its interval, adjusted for the number of cells (<see cref="Holm"/>), lies
    /// beyond the margin; those with too few rounds are not judged and not counted.
    /// </summary>
    /// <returns>The comparisons, in the order of the ratios.</returns>
    public static IReadOnlyList<Comparison> OfAll(IReadOnlyList<RateRatio> ratios, Margin margin)
    {
        var judged = ratios.Where(HasEnough).ToList();
        var probabilities = judged.Select(ratio => ratio.ProbabilityWithin(margin)).ToList();
        var found = new Queue<Comparison>(judged
            .Zip(probabilities, Holm.LevelsOf(probabilities, Alpha))
            .Select(each => new Comparison(each.First, VerdictOf(each.First, isShown: each.Second <= each.Third), each.Third)));
        return
        [
            .. ratios.Select(
                ratio => HasEnough(ratio) ? found.Dequeue() : new Comparison(ratio, ComparisonVerdict.TooFewRounds, Level: null)),
        ];
    }

    private static bool HasEnough(RateRatio ratio) => ratio.Pairs >= EnoughRounds;

    private static ComparisonVerdict VerdictOf(RateRatio ratio, bool isShown) => !isShown
        ? ComparisonVerdict.NoClearDifference
        : ratio.Log > 0 ? ComparisonVerdict.Faster : ComparisonVerdict.Slower;

    /// <summary>The verdict in words.</summary>
    public string Reading => Verdict switch
    {
        ComparisonVerdict.Faster => "faster",
        ComparisonVerdict.Slower => "slower",
        ComparisonVerdict.NoClearDifference => "no clear difference",
        ComparisonVerdict.TooFewRounds => $"n < {Figures.Plain(EnoughRounds)}",
        _ => throw new InvalidOperationException($"No such verdict: {Verdict}."),
    };

    public override string ToString() => Verdict is ComparisonVerdict.TooFewRounds
        ? $"{Figures.Measured(Ratio.Value)} ({Reading})"
        : $"{Figures.Measured(Ratio.Value)} ({Interval}, {Reading})";
}
