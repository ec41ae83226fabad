using Kit.Runner.Results.Loads;

namespace Kit.Runner.Results.Published;

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
        ArgumentNullException.ThrowIfNull(table);
        ArgumentNullException.ThrowIfNull(repetition);
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
