namespace Kit.Runner.Results;

/// <summary>One row per cell: speed, precision, ratios to the strictest mode and the bare driver, and the parts of the time.</summary>
internal static class SummaryTable
{
    public const string Interval = "95 % interval";
    public const string Variation = "CV";

    private static readonly IReadOnlyList<SummaryColumn> Rates =
    [
        new("Valid rounds", (run, cell) => $"{Figures.Plain(cell.Counting.Count)} of {Figures.Plain(run.Document.Settings.Rounds)}"),
        new("Mean msg/s", (_, cell) => Figures.Measured(cell.Rate?.Mean)),
        new(Interval, (_, cell) => IntervalOf(cell.Rate)),
        new(Variation, (_, cell) => cell.Rate?.Variation is { } variation ? Figures.Share(variation) : Figures.None),
        new("Ratio to strictest", ToStrictestOf),
    ];

    /// <summary>The speed, and the comparisons that the run has cells for.</summary>
    public static IReadOnlyList<SummaryColumn> SpeedOf(RecordedRun run) =>
    [
        .. Rates,
        .. new (bool IsShown, SummaryColumn Column)[]
        {
            (run.HasSeveralFrameworks, new("Ratio to bare", ToBareOf)),
            (run.HasCellsNextToTheirDefault, new("Ratio to default", (run, cell) => RatioOf(cell, run.AgainstDefault(cell), run.IsDefault(cell)))),
            (run.HasBatches, new("Redo bound", (run, cell) => run.RedoBoundOf(cell) is { } bound ? Figures.Count(bound) : Figures.None)),
            (run.HasDurationsOfBatches, new("Batch ms p50/p99", (_, cell) => DurationsOf(cell, round => round.Batch, each => each.P99Milliseconds))),
        }.Where(one => one.IsShown).Select(one => one.Column),
        new("Middle half msg/s", (_, cell) => Figures.Measured(cell.MeanOf(round => round.Throughput.MiddleHalfPerSecond))),
        new("Max msg/s", (_, cell) => Figures.Measured(cell.Counting.Max(round => round.Throughput.MaximumInOneSecond))),
    ];

    public static IReadOnlyList<SummaryColumn> Costs { get; } =
    [
        new("Commits", (_, cell) => MeanCost(cell, costs => costs.Commits)),
        new("Flushes", (_, cell) => MeanCost(cell, costs => costs.WalFlushes)),
        new("WAL bytes", (_, cell) => MeanCost(cell, costs => costs.WalBytes)),
        new("Buffers", (_, cell) => MeanCost(cell, costs => costs.Buffers)),
        new("Two-phase commits", (_, cell) => MeanCost(cell, costs => costs.TwoPhaseCommits)),
        new("Handler CPU ms", (_, cell) => MeanCost(cell, costs => costs.HandlerCpuMilliseconds)),
        new("Server CPU ms", (_, cell) => MeanCost(cell, costs => costs.ServerCpuMilliseconds)),
        new("2nd phase ms p50/p99", (_, cell) => DurationsOf(cell, round => round.SecondPhase, each => each.P99Milliseconds)),
    ];

    /// <summary>A row for each cell, that begins with the mode, or with the whole cell if the mode alone does not identify it.</summary>
    public static Table Of(RecordedRun run, IEnumerable<SummaryColumn> columns)
    {
        var cells = run.Cells;
        var isWhole = cells.Select(cell => cell.Cell.Group).Distinct().Skip(1).Any()
            || cells.Any(cell => cell.Cell.Axes.Any(axis => run.Document.Implied?.ContainsKey(axis) == true));
        return Table.Of(
            [
                new Column<CellResult>("Mode", cell => isWhole ? $"{cell.Cell}" : cell.Cell.Mode, IsFigure: false),
                .. columns.Select(column => new Column<CellResult>(column.Header, cell => column.Text(run, cell))),
            ],
            cells);
    }

    internal static string IntervalOf(Estimate? rate) =>
        rate?.Factor is null ? Figures.None : $"{Figures.Measured(rate.Low)} to {Figures.Measured(rate.High)}";

    internal static string ToStrictestOf(RecordedRun run, CellResult cell) => RatioOf(cell, run.AgainstStrictest(cell), run.IsStrictest(cell));

    internal static string ToBareOf(RecordedRun run, CellResult cell) => RatioOf(cell, run.AgainstBare(cell), RecordedRun.IsFloor(cell));

    private static string RatioOf(CellResult cell, Comparison? comparison, bool isReference) =>
        isReference && cell.Rate is not null ? "1" : comparison?.ToString() ?? Figures.None;

    private static string MeanCost(CellResult cell, Func<MessageCosts, Reading?> cost) =>
        Figures.Measured(cell.MeanOf(round => cost(round.Costs)?.Value));

    /// <summary>The mean of the medians, and the highest of the others: a mean of them would hide the round with the longest times.</summary>
    internal static string DurationsOf(CellResult cell, Func<RoundDocument, Durations?> measured, params IReadOnlyList<Func<Durations, double?>> others) =>
        cell.Counting.Select(measured).OfType<Durations>().ToList() is { Count: > 0 } durations
            ? string.Join('/', others.Select(durations.Max).Prepend(durations.Average(each => each.P50Milliseconds)).Select(Figures.Measured))
            : Figures.None;
}

/// <summary>A column of the summary: its header, and its text for a cell.</summary>
internal sealed record SummaryColumn(string Header, Func<RecordedRun, CellResult, string> Text);
