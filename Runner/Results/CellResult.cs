namespace Kit.Runner.Results;

/// <summary>The rounds of one cell, some of which count.</summary>
public sealed class CellResult
{
    public CellResult(CellName cell, IEnumerable<RoundDocument> rounds)
    {
        Cell = cell;
        Rounds = [.. rounds.OrderBy(round => round.Round).ThenBy(round => round.Attempt)];
        Counting = RoundAttempts.Counting(Rounds);
        Rate = RoundAttempts.RateOf(Counting);
        Outliers = Outlier.Of(Counting);
    }

    public CellName Cell { get; }

    /// <summary>The clock of its moments; <see langword="null"/> before its first round.</summary>
    public ClockSource? Clock => Rounds.Count == 0 ? null : Rounds[0].Clock;

    /// <summary>Every attempt, in order.</summary>
    public IReadOnlyList<RoundDocument> Rounds { get; }

    /// <summary>For each round number, the valid attempt with the least noise. Every average is over these rounds.</summary>
    public IReadOnlyList<RoundDocument> Counting { get; }

    /// <summary>Counting rounds that are noisy: they were not repeated, or no attempt was quiet.</summary>
    public int Noisy => Counting.Count(round => round.Noise.IsNoisy());

    /// <summary>Messages per second over the counting rounds; <see langword="null"/> if none counts.</summary>
    public Estimate? Rate { get; }

    /// <summary>Counting rounds whose rate is far from the median. They are in every average.</summary>
    public IReadOnlyList<Outlier> Outliers { get; }

    /// <summary>
    /// The cell's rate as a multiple of another's, over the rounds that count in both, each divided by the round of the same number.
    /// </summary>
    /// <returns><see langword="null"/> if no round that took time counts in both.</returns>
    public RateRatio? Against(CellResult reference) => RateRatio.OfPairs(
    [
        .. from mine in Counting
           join other in reference.Counting on mine.Round equals other.Round
           let pair = (Rate: mine.Throughput.AveragePerSecond ?? 0, Reference: other.Throughput.AveragePerSecond ?? 0)
           where pair is { Rate: > 0, Reference: > 0 }
           select pair,
    ]);

    public bool Counts(RoundDocument round) => Counting.Any(counting => ReferenceEquals(counting, round));

    /// <summary>The mean of a figure over the counting rounds; <see langword="null"/> unless every one of them has it.</summary>
    public double? MeanOf(Func<RoundDocument, double?> figure)
    {
        var figures = Counting.Select(figure).ToList();
        return figures.Count == 0 || figures.Contains(null) ? null : figures.Average();
    }
}
