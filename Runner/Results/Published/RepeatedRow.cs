using Kit.Runner.Results.Loads;

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
        // An interval that covers both answers agrees with nobody who gives one.
        (_, _, { Low: <= 1, High: >= 1 }) when Math.Abs(PublishedRatio!.Value - 1) > Margin.Default.Share => Agreement.NoClearDifference,
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

/// <summary>A published row next to the load that repeats it. It is one measurement, so its ratio has no interval.</summary>
/// <param name="PublishedRatio">Its rate divided by the base's; <see langword="null"/> if one of them is not known.</param>
/// <param name="Load"><see langword="null"/> if none repeats it.</param>
/// <param name="Ratio">Our rate divided by our base's; <see langword="null"/> if one of them was not measured.</param>
public sealed record RepeatedLoad(PublishedRow Published, double? PublishedRatio, LoadResult? Load, double? Ratio)
{
    /// <summary>Ratios that differ by less than this factor are close to each other.</summary>
    public const double CloseBy = 1.25;

    /// <summary>A ratio that differs from 1 by less than this factor shows no difference.</summary>
    public const double Alike = 1.1;

    /// <summary>A load that was to repeat it and is not valid, or was stopped; <see langword="null"/>: there is none, or a valid one, too.</summary>
    public LoadResult? Broken { get; init; }

    /// <summary>True if it is the row by which the others are divided.</summary>
    public bool IsBase { get; init; }

    public Agreement Agreement => (Ratio, PublishedRatio) switch
    {
        (null, _) => Agreement.NotMeasured,
        _ when IsBase => Agreement.Base,
        (_, null) => Agreement.NotPublished,
        ({ } ours, { } theirs) when FactorOf(ours / theirs) < CloseBy => Agreement.Close,
        ({ } ours, _) when FactorOf(ours) < Alike => Agreement.NoClearDifference,
        (_, { } theirs) when FactorOf(theirs) < Alike => Agreement.OnlyOurs,
        ({ } ours, { } theirs) => ours > 1 == theirs > 1 ? Agreement.SameDirection : Agreement.Opposite,
    };

    /// <summary>The rows of a table next to the measurements.</summary>
    public static IReadOnlyList<RepeatedLoad> Of(PublishedTable table, Repetition repetition)
    {
        var reference = repetition.LoadOf(table, table.Base)?.Reached;
        return
        [
            .. from row in table.Rows
               let load = repetition.LoadOf(table, row)
               select new RepeatedLoad(row, row.PerSecond / table.Base.PerSecond, load, reference > 0 ? load?.Reached / reference : null)
               {
                   IsBase = row == table.Base,
                   Broken = load is null ? repetition.BrokenLoadOf(table, row) : null,
               },
        ];
    }

    private static double FactorOf(double ratio) => Math.Max(ratio, 1 / ratio);
}
