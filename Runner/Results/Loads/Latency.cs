namespace Kit.Runner.Results.Loads;

/// <summary>Quantiles of a time, in ms, over all messages; <see langword="null"/> where there are too few messages for one.</summary>
/// <param name="P50">The median, from 2 messages on.</param>
/// <param name="P95">From 20 messages on.</param>
/// <param name="P99">From 100 messages on.</param>
/// <param name="P999">From 1,000 messages on.</param>
public sealed record Latency(double? P50, double? P95, double? P99, double? P999, double Max)
{
    /// <param name="milliseconds">In any order.</param>
    /// <returns><see langword="null"/> for no value.</returns>
    public static Latency? Of(IEnumerable<double> milliseconds)
    {
        var sorted = milliseconds.Order().ToArray();
        return sorted.Length == 0
            ? null
            : new Latency(
                Quantile.OfEnough(sorted, 0.5), Quantile.OfEnough(sorted, 0.95), Quantile.OfEnough(sorted, 0.99), Quantile.OfEnough(sorted, 0.999),
                Math.Round(sorted[^1], 3));
    }
}
