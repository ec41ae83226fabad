using System.Globalization;

namespace Kit.Runner.Results.Published;

/// <summary>A row of a published table. A figure is <see langword="null"/> if it was not published, or is not known here.</summary>
/// <param name="Title">As it was published.</param>
/// <param name="Cell">The kit's cell that repeats it.</param>
public sealed record PublishedRow(string Title, string Cell, double? PerSecond = null)
{
    /// <summary>True if the others of its table are divided by it.</summary>
    public bool IsBase { get; init; }

    /// <summary>Users in the repetition; <see langword="null"/>: it is a drain.</summary>
    public int? Users { get; init; }

    /// <summary>The published latency in ms.</summary>
    public double? Milliseconds { get; init; }

    /// <summary>The published CPU use in percent.</summary>
    public double? CpuPercent { get; init; }

    /// <summary>The published words.</summary>
    public string? Said { get; init; }

    /// <summary>The rate with the digits that were published.</summary>
    public string Figure => TextOf(PerSecond);

    /// <summary>A figure with the digits that were published.</summary>
    public static string TextOf(double? figure) => figure?.ToString(CultureInfo.InvariantCulture) ?? Figures.None;
}
