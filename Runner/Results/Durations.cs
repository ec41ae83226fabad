using System.Text.Json.Serialization;
using MathNet.Numerics.Statistics;

namespace Kit.Runner.Results;

/// <summary>How long something took, over a round.</summary>
/// <param name="P50Milliseconds">The median.</param>
/// <param name="P99Milliseconds">The 99th percentile.</param>
/// <param name="Count">How many were measured.</param>
public sealed record Durations(double P50Milliseconds, double P99Milliseconds, int Count)
{
    /// <summary>The 95th percentile; absent in runs of earlier versions.</summary>
    [JsonIgnore(Condition = JsonIgnoreCondition.WhenWritingNull)]
    public double? P95Milliseconds { get; init; }

    /// <summary>The longest; absent in runs of earlier versions.</summary>
    [JsonIgnore(Condition = JsonIgnoreCondition.WhenWritingNull)]
    public double? MaxMilliseconds { get; init; }

    /// <summary>
    /// Exact quantiles of all values, with linear interpolation between two neighbours (R-8: Hyndman and Fan, Sample Quantiles in Statistical
    /// Packages, The American Statistician 50, 1996), to the microsecond.
    /// </summary>
    /// <param name="milliseconds">The values, in any order.</param>
    /// <returns><see langword="null"/> if there is none.</returns>
    public static Durations? Of(IReadOnlyCollection<double> milliseconds)
    {
        if (milliseconds.Count == 0)
            return null;

        var sorted = milliseconds.Order().ToArray();
        double At(double share) => Math.Round(SortedArrayStatistics.Quantile(sorted, share), 3);
        return new Durations(At(0.5), At(0.99), sorted.Length) { P95Milliseconds = At(0.95), MaxMilliseconds = At(1) };
    }
}
