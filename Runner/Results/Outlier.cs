using MathNet.Numerics.Statistics;

namespace Kit.Runner.Results;

/// <summary>A round whose rate is far from the median of its cell. It counts as the others do: it is not known to be wrong.</summary>
/// <param name="Score">Modified z-score, 0.6745 · (x − x̃) / MAD, with the median x̃ and the median of the absolute deviations from it.</param>
/// <param name="FromMedian">Distance from the median, as a share of it; below 0 if the round was slow.</param>
/// <remarks>
/// The score and its limit are those of Iglewicz and Hoaglin, How to Detect and Handle Outliers, ASQC Basic References in Quality Control 16, 1993.
/// The median of few deviations varies much: of five rounds that only chance makes different, the score is beyond the limit in about 20 of 100 cells,
/// of ten in about 12 (simulated with normal rates).
/// </remarks>
public sealed record Outlier(RoundDocument Round, double Score, double FromMedian)
{
    /// <summary>The limit of the score, in either direction.</summary>
    public const double Limit = 3.5;

    /// <summary>The fewest rounds of which one can be told to be the outlier.</summary>
    public const int LeastRounds = 5;

    private const double NormalQuartile = 0.6745;

    /// <summary>True if it is the first round, and slow: a known pattern with a cause of its own.</summary>
    public bool IsSlowStart => Round.Round == 1 && FromMedian < 0;

    /// <summary>The outliers among the rounds of a cell that count; none that differs from the median by less than a difference that matters.</summary>
    public static IReadOnlyList<Outlier> Of(IReadOnlyList<RoundDocument> counting)
    {
        var rates = counting.Select(round => round.Throughput.AveragePerSecond ?? 0).ToList();
        if (rates.Count < LeastRounds)
            return [];

        var median = rates.Median();
        // Zero if more than half of the rates are equal; then each score is infinite or undefined.
        var deviation = rates.Select(rate => Math.Abs(rate - median)).Median();
        return deviation == 0
            ? []
            : [
                .. counting.Zip(rates, (round, rate) => new Outlier(round, NormalQuartile * (rate - median) / deviation, (rate / median) - 1))
                    .Where(each => Math.Abs(each.Score) > Limit && Math.Abs(each.FromMedian) > Margin.Default.Share),
            ];
    }
}
