using MathNet.Numerics.Statistics;

namespace Kit.Runner.Results;

/// <summary>
/// The kit's quantiles: linear interpolation between two neighbours (R-8: Hyndman and Fan, Sample Quantiles in Statistical Packages, The American
/// Statistician 50, 1996), over every measured value, to the microsecond.
/// </summary>
public static class Quantile
{
    /// <param name="sorted">In ms, ascending; at least one.</param>
    /// <param name="share">0 to 1.</param>
    public static double Of(double[] sorted, double share) => Math.Round(SortedArrayStatistics.Quantile(sorted, share), 3);

    /// <summary>The quantile, if at least one value is expected above it. With fewer values it would be near the maximum, and say nothing more.</summary>
    /// <inheritdoc cref="Of" path="/param"/>
    /// <returns><see langword="null"/> for too few values.</returns>
    public static double? OfEnough(double[] sorted, double share) => sorted.Length >= NeededFor(share) ? Of(sorted, share) : null;

    /// <summary>Number of values that a quantile needs: 2 for the median, 100 for p99, 1,000 for p99.9.</summary>
    /// <param name="share">0 to below 1.</param>
    public static int NeededFor(double share) => (int)Math.Round(1 / (1 - share));
}
