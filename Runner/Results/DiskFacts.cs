using System.Text.Json.Serialization;
using MathNet.Numerics.Statistics;

namespace Kit.Runner.Results;

/// <summary>Where the kit's own servers kept their files during a run, and what a flush cost there.</summary>
/// <param name="Folder">Their folder.</param>
/// <param name="FileSystem">Its kind, as the system names it.</param>
/// <param name="IsInMemory">Whether the file system is in memory, so that a flush makes nothing durable.</param>
/// <param name="Flush">Before the first round.</param>
public sealed record DiskFacts(string Folder, string FileSystem, bool IsInMemory, FlushTime Flush)
{
    // A system call alone takes about a microsecond, and the fastest disks with a power-protected buffer about ten.
    private const double QuickestMilliseconds = 0.005;

    /// <summary>For a reader.</summary>
    [JsonIgnore]
    public string Where => $"{Folder} on {FileSystem}{(IsInMemory ? ", in memory" : "")}";

    /// <summary>For a reader, with its flush.</summary>
    [JsonIgnore]
    public string Text => $"{Where}; a flush of 8 KiB: {Flush.Text}";

    /// <summary>Whether a flush is faster than any disk allows, whatever the name of the file system.</summary>
    [JsonIgnore]
    public bool IsTooFast => Flush.P50Milliseconds < QuickestMilliseconds;
}

/// <summary>How long flushes of one page took, in milliseconds.</summary>
/// <param name="P50Milliseconds">Half of them took no longer.</param>
/// <param name="P99Milliseconds">99 of 100 took no longer.</param>
/// <param name="Count">The number of flushes.</param>
public sealed record FlushTime(double P50Milliseconds, double P99Milliseconds, int Count)
{
    /// <param name="milliseconds">One or more.</param>
    public static FlushTime Of(IReadOnlyList<double> milliseconds) =>
        new(Math.Round(milliseconds.Quantile(0.5), 4), Math.Round(milliseconds.Quantile(0.99), 4), milliseconds.Count);

    /// <summary>As a multiple of another, at the median.</summary>
    public double Over(FlushTime other) => Math.Round(P50Milliseconds / Math.Max(other.P50Milliseconds, 1e-4), 3);

    /// <summary>For a reader.</summary>
    [JsonIgnore]
    public string Text => $"{Figures.Measured(P50Milliseconds)} ms at the median, {Figures.Measured(P99Milliseconds)} ms at the 99th percentile";
}
