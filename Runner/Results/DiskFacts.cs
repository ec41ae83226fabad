using MathNet.Numerics.Statistics;

namespace Kit.Runner.Results;

/// <summary>The place of the files of the kit's own servers during a run, and the cost of a flush there.</summary>
/// <param name="FileSystem">As the system names it.</param>
/// <param name="IsInMemory">True if the file system is in memory, so that a flush makes nothing durable.</param>
/// <param name="Flush">Before the first round.</param>
public sealed record DiskFacts(string Folder, string FileSystem, bool IsInMemory, FlushTime Flush)
{
    // A system call alone takes about a microsecond, and the fastest disks with a power-protected buffer about ten.
    private const double QuickestMilliseconds = 0.005;

    /// <summary>The place in words, for a reader.</summary>
    public string Where => $"{Folder} on {FileSystem}{(IsInMemory ? ", in memory" : "")}";

    /// <summary>The place and its flush in words, for a reader.</summary>
    public string Text => $"{Where}; a flush of 8 KiB: {Flush.Text}";

    /// <summary>
    /// The time of a flush around a drain, as a multiple of that before the first: the mean of before and after. If the disk slowed down in between, half of
    /// that shows.
    /// </summary>
    /// <returns><see langword="null"/> if one of them was not measured.</returns>
    public double? RatioOf(FlushTime? before, FlushTime? after) =>
        before is null || after is null ? null : Math.Round((before.Over(Flush) + after.Over(Flush)) / 2, 3);

    /// <summary>True if a flush is faster than any disk allows, whatever the name of the file system.</summary>
    public bool IsTooFast => Flush.P50Milliseconds < QuickestMilliseconds;
}

/// <summary>Times of flushes of one page, in milliseconds.</summary>
public sealed record FlushTime(double P50Milliseconds, double P99Milliseconds, int Count)
{
    /// <param name="milliseconds">One or more.</param>
    public static FlushTime Of(IReadOnlyList<double> milliseconds) =>
        new(Math.Round(milliseconds.Quantile(0.5), 4), Math.Round(milliseconds.Quantile(0.99), 4), milliseconds.Count);

    /// <summary>The multiple of another flush time, at the median.</summary>
    public double Over(FlushTime other) => Math.Round(P50Milliseconds / Math.Max(other.P50Milliseconds, 1e-4), 3);

    /// <summary>The flush time in words, for a reader.</summary>
    public string Text => $"{Figures.Measured(P50Milliseconds)} ms at the median, {Figures.Measured(P99Milliseconds)} ms at the 99th percentile";
}
