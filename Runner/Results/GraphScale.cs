namespace Kit.Runner.Results;

/// <summary>
/// The scale that all graphs of a run share, so that they are comparable: the same bins, the same seconds per pixel, and a rate axis from 0
/// to the same top. A round that took half as long has a graph half as wide.
/// </summary>
/// <param name="Bin">Length of a bin: 1, 2 or 5 times a power of ten milliseconds.</param>
/// <param name="Seconds">Seconds of the whole width.</param>
/// <param name="PerSecond">Messages per second of the whole height.</param>
public sealed record GraphScale(TimeSpan Bin, double Seconds, double PerSecond)
{
    private static readonly IReadOnlyList<int> Steps = [1, 2, 5];

    /// <summary>
    /// The finest bins with which the longest round has at most <paramref name="mostBins"/>. As the steps are at most a factor of 2.5 apart,
    /// it has at least 0.4 times as many (from a millisecond on).
    /// </summary>
    public static GraphScale Of(IEnumerable<RoundDocument> rounds, int mostBins)
    {
        var drawn = rounds.Where(CanDraw).Select(round => round.Throughput).ToList();
        if (drawn.Count == 0)
            return new GraphScale(TimeSpan.FromMilliseconds(1), 0, 0);

        var longest = drawn.Max(throughput => throughput.ElapsedSeconds!.Value);
        var bin = BinFor(TimeSpan.FromSeconds(longest), mostBins);
        return new GraphScale(bin, longest, drawn.Max(throughput => BinsOf(throughput, bin).Max(stretch => stretch.PerSecond)));
    }

    /// <summary>True if the round has commits over some time.</summary>
    public static bool CanDraw(RoundDocument round) => round.Throughput.ElapsedSeconds > 0;

    /// <summary>The round's commits in bins of this scale. A short last bin is joined with the previous one, as a few moments have no rate.</summary>
    public IReadOnlyList<RateBin> BinsOf(RoundDocument round) => BinsOf(round.Throughput, Bin);

    private static IReadOnlyList<RateBin> BinsOf(Throughput throughput, TimeSpan bin)
    {
        var bins = throughput.Series(bin);
        if (bins.Count < 2 || bins[^1].Seconds >= bin.TotalSeconds)
            return bins;

        var joined = new RateBin(bins[^2].Start, bins[^2].Seconds + bins[^1].Seconds, bins[^2].Commits + bins[^1].Commits);
        return [.. bins.SkipLast(2), joined];
    }

    private static TimeSpan BinFor(TimeSpan longest, int mostBins)
    {
        for (var decade = TimeSpan.FromMilliseconds(1); ; decade *= 10)
        {
            foreach (var step in Steps)
            {
                if (longest <= decade * step * mostBins)
                    return decade * step;
            }
        }
    }
}
