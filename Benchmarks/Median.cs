namespace Kit.Benchmarks;

/// <summary>The middle of the figures, missing ones left out.</summary>
internal static class Median
{
    /// <summary>The mean of the two middle ones of an even number; <see langword="null"/> of none.</summary>
    public static double? Of(IEnumerable<double?> figures)
    {
        var sorted = figures.OfType<double>().Order().ToList();
        return sorted.Count == 0 ? null : (sorted[(sorted.Count - 1) / 2] + sorted[sorted.Count / 2]) / 2;
    }
}
