namespace Kit.Runner.Results;

/// <summary>Durations over a round.</summary>
public sealed record Durations(double P50Milliseconds, double P99Milliseconds, int Count)
{
    /// <summary>The 95th percentile; absent in runs of earlier versions.</summary>
    public double? P95Milliseconds { get; init; }

    /// <summary>The longest; absent in runs of earlier versions.</summary>
    public double? MaxMilliseconds { get; init; }

    /// <summary>The mean; absent in runs of earlier versions.</summary>
    public double? MeanMilliseconds { get; init; }

    /// <summary>The mean to the microsecond, and the quantiles of all values, as <see cref="Quantile"/> defines them.</summary>
    /// <param name="milliseconds">In any order.</param>
    /// <returns><see langword="null"/> if there is none.</returns>
    public static Durations? Of(IReadOnlyCollection<double> milliseconds)
    {
        if (milliseconds.Count == 0)
            return null;

        var sorted = milliseconds.Order().ToArray();
        return new Durations(Quantile.Of(sorted, 0.5), Quantile.Of(sorted, 0.99), sorted.Length)
        {
            P95Milliseconds = Quantile.Of(sorted, 0.95),
            MaxMilliseconds = Quantile.Of(sorted, 1),
            MeanMilliseconds = Math.Round(sorted.Average(), 3),
        };
    }
}
