namespace Kit.Runner.Results;

/// <summary>The conclusion from a ratio.</summary>
public enum ComparisonVerdict
{
    Faster,
    Slower,

    /// <summary>The adjusted interval overlaps the margin. There may still be a difference.</summary>
    NoClearDifference,

    /// <summary>Fewer than <see cref="Comparison.EnoughRounds"/> pairs of rounds.</summary>
    TooFewRounds,

    /// <summary>One of the two writes each send to disk, and the other keeps them in memory: no verdict.</summary>
    SendsInMemory,
}

/// <summary>A rate compared with a reference, judged together with the other compared cells.</summary>
/// <param name="Ratio">Rate divided by reference, by round.</param>
/// <param name="Level">The alpha of the adjusted interval; <see langword="null"/> if there are too few rounds.</param>
public sealed record Comparison(RateRatio Ratio, ComparisonVerdict Verdict, double? Level)
{
    public const int EnoughRounds = 5;

    /// <summary>In place of an interval and a verdict.</summary>
    public static readonly string TooFew = $"n < {Figures.Plain(EnoughRounds)}";

    /// <summary>The alpha of the 95 % intervals, and of all verdicts of one table together.</summary>
    public const double Alpha = 0.05;

    /// <summary>
    /// The 95 % interval of this ratio alone; <see langword="null"/> if there are too few rounds.
    /// </summary>
    public RatioInterval? Interval => HasEnough(Ratio) ? Ratio.IntervalAt(Alpha) : null;

    /// <summary>The interval behind the verdict: the more cells are compared, the wider it is.</summary>
    public RatioInterval? Adjusted => Level is { } level ? Ratio.IntervalAt(level) : null;

    /// <summary>A ratio of cells that do different work, which is neither judged nor counted.</summary>
    public static Comparison OfSendsInMemory(RateRatio ratio) => new(ratio, ComparisonVerdict.SendsInMemory, Level: null);

    /// <summary>
    /// Judges cells together. A cell is faster or slower only if its interval, adjusted for the number of cells (<see cref="Holm"/>), lies
    /// outside the margin; cells with too few rounds are neither judged nor counted.
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

    /// <summary>The verdict as a text.</summary>
    public string Reading => Verdict switch
    {
        ComparisonVerdict.Faster => "faster",
        ComparisonVerdict.Slower => "slower",
        ComparisonVerdict.NoClearDifference => "no clear difference",
        ComparisonVerdict.TooFewRounds => TooFew,
        ComparisonVerdict.SendsInMemory => "sends not persistent",
        _ => throw new InvalidOperationException($"No such verdict: {Verdict}."),
    };

    /// <summary>The ratio and its interval, where a reader compares with something else than the ratios that the verdict was adjusted for.</summary>
    public string WithoutReading => Ratio.Text;

    public override string ToString() => $"{Figures.Measured(Ratio.Value)} ({(Interval is { } interval ? $"{interval}, " : "")}{Reading})";
}
