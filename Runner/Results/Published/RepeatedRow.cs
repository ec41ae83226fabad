namespace Kit.Runner.Results.Published;

/// <summary>The agreement of a published row and its repetition, each as a ratio to its own base.</summary>
public enum Agreement
{
    /// <summary>The row by which the others are divided.</summary>
    Base,

    /// <summary>The published ratio is within the 95 % interval of ours.</summary>
    Agrees,

    /// <summary>Both are faster than their base, or both are slower, by another factor.</summary>
    SameDirection,

    /// <summary>One is faster than its base, and the other is not.</summary>
    Opposite,

    /// <summary>Ours may be faster or slower than its base: its interval has both. The published one is clearly one of them.</summary>
    NoClearDifference,

    /// <summary>Fewer rounds than an interval needs.</summary>
    TooFewRounds,

    /// <summary>No round of the cell or of its base counts.</summary>
    NotMeasured,

    /// <summary>There is no published ratio.</summary>
    NotPublished,

    /// <summary>Of single measurements: the published ratio and ours are within a quarter of each other.</summary>
    Close,

    /// <summary>Of single measurements: ours differs from its base, and the published one does not.</summary>
    OnlyOurs,
}

/// <summary>A published row next to the cell that repeats it.</summary>
/// <param name="PublishedRatio">Its figure divided by the base's; <see langword="null"/> if one of them is not known.</param>
/// <param name="PerSecond">Our mean; <see langword="null"/> if no round counts.</param>
/// <param name="Ratio">Our ratio to our base, round by round; <see langword="null"/> for the base, and if no round counts in both.</param>
public sealed record RepeatedRow(PublishedRow Published, double? PublishedRatio, double? PerSecond, RateRatio? Ratio)
{
    private const double Alpha = Comparison.Alpha;

    /// <summary>True if it is the row by which the others are divided.</summary>
    public bool IsBase { get; init; }

    /// <summary>The 95 % interval of our ratio; <see langword="null"/> if there are too few rounds.</summary>
    public RatioInterval? Interval => Ratio is { Pairs: >= Comparison.EnoughRounds } ? Ratio.IntervalAt(Alpha) : null;

    public Agreement Agreement => (PerSecond, Ratio, Interval) switch
    {
        (not null, null, _) when IsBase => Agreement.Base,
        (null, _, _) or (_, null, _) => Agreement.NotMeasured,
        (not null, not null, _) when PublishedRatio is null => Agreement.NotPublished,
        (_, _, null) => Agreement.TooFewRounds,
        (_, _, var interval) when interval.Low <= PublishedRatio && PublishedRatio <= interval.High => Agreement.Agrees,
        (_, _, { Low: <= 1, High: >= 1 }) => Agreement.NoClearDifference,
        (_, { Value: > 1 }, _) when PublishedRatio > 1 => Agreement.SameDirection,
        (_, { Value: < 1 }, _) when PublishedRatio < 1 => Agreement.SameDirection,
        (_, { Value: > 1 }, _) when PublishedRatio <= 1 => Agreement.Opposite,
        (_, { Value: < 1 }, _) when PublishedRatio >= 1 => Agreement.Opposite,
        _ => throw new InvalidOperationException($"{Published.Title} and its repetition cannot be compared: {PublishedRatio} and {Ratio?.Value}."),
    };

    /// <summary>The rows of a table next to a run.</summary>
    public static IReadOnlyList<RepeatedRow> Of(PublishedTable table, RecordedRun run)
    {
        ArgumentNullException.ThrowIfNull(table);
        ArgumentNullException.ThrowIfNull(run);
        var cells = run.Cells.ToDictionary(cell => $"{cell.Cell}", StringComparer.Ordinal);
        var reference = cells.GetValueOrDefault(table.Base.Cell);
        return
        [
            .. from row in table.Rows
               let cell = cells.GetValueOrDefault(row.Cell)
               let isBase = row == table.Base
               select new RepeatedRow(
                   row,
                   row.PerSecond / table.Base.PerSecond,
                   cell?.Rate?.Mean,
                   isBase || reference is null ? null : cell?.Against(reference))
               {
                   IsBase = isBase,
               },
        ];
    }
}
