namespace Kit.Runner.Results;

/// <summary>One row per cell: speed, precision, ratios to the strictest mode and the bare driver, and the parts of the time.</summary>
internal static class SummaryTable
{
    public const string Mode = "Mode";
    public const string ValidRounds = "Valid rounds";
    public const string Mean = "Mean msg/s";
    public const string Interval = "95 % interval";
    public const string Variation = "CV";
    public const string RatioToStrictest = "Ratio to strictest";
    public const string RatioToBare = "Ratio to bare";
    public const string RatioToDefault = "Ratio to default";
    public const string RedoBound = "Redo bound";
    public const string Batch = "Batch ms p50/p99";
    public const string Flushes = "Flushes";
    public const string AtOneMillisecond = "Ratio at 1 ms, computed";
    public const string SecondPhase = "2nd phase ms p50/p99";

    private static readonly SummaryColumn ToBare =
        new(RatioToBare, (run, cell) => RatioOf(cell, run.AgainstBare(cell), RecordedRun.IsFloor(cell)));

    private static readonly SummaryColumn ToDefault =
        new(RatioToDefault, (run, cell) => RatioOf(cell, run.AgainstDefault(cell), run.IsDefault(cell)));

    private static readonly SummaryColumn Unsettled = new(RedoBound, (run, cell) => run.RedoBoundOf(cell) is { } bound ? Figures.Count(bound) : Figures.None);

    private static readonly SummaryColumn InBatch = new(Batch, (_, cell) => DurationsOf(cell, round => round.Batch));

    private static readonly IReadOnlyList<SummaryColumn> Rates =
    [
        new(ValidRounds, (run, cell) => $"{Figures.Plain(cell.Counting.Count)} of {Figures.Plain(run.Document.Settings.Rounds)}"),
        new(Mean, (_, cell) => Figures.Measured(cell.Rate?.Mean)),
        new(Interval, (_, cell) => IntervalOf(cell.Rate)),
        new(Variation, (_, cell) => cell.Rate?.Variation is { } variation ? Figures.Share(variation) : Figures.None),
        new(RatioToStrictest, ToStrictestOf),
    ];

    private static readonly SummaryColumn MiddleHalf =
        new("Middle half msg/s", (_, cell) => Figures.Measured(cell.MeanOf(round => round.Throughput.MiddleHalfPerSecond)));

    private static readonly SummaryColumn Max =
        new("Max msg/s", (_, cell) => Figures.Measured(cell.Counting.Max(round => round.Throughput.MaximumInOneSecond)));

    /// <summary>The speed, and the comparisons that the run has cells for.</summary>
    public static IReadOnlyList<SummaryColumn> SpeedOf(RecordedRun run) =>
    [
        .. Rates,
        .. run.HasSeveralFrameworks ? [ToBare] : Array.Empty<SummaryColumn>(),
        .. run.HasCellsNextToTheirDefault ? [ToDefault] : Array.Empty<SummaryColumn>(),
        .. run.HasBatches ? [Unsettled] : Array.Empty<SummaryColumn>(),
        .. run.HasDurationsOfBatches ? [InBatch] : Array.Empty<SummaryColumn>(),
        MiddleHalf,
        Max,
    ];

    public static IReadOnlyList<SummaryColumn> Costs { get; } =
    [
        new("Commits", (_, cell) => MeanCost(cell, costs => costs.Commits)),
        new(Flushes, (_, cell) => MeanCost(cell, costs => costs.WalFlushes)),
        new("WAL bytes", (_, cell) => MeanCost(cell, costs => costs.WalBytes)),
        new("Buffers", (_, cell) => MeanCost(cell, costs => costs.Buffers)),
        new("Two-phase commits", (_, cell) => MeanCost(cell, costs => costs.TwoPhaseCommits)),
        new("Handler CPU ms", (_, cell) => MeanCost(cell, costs => costs.HandlerCpuMilliseconds)),
        new("Server CPU ms", (_, cell) => MeanCost(cell, costs => costs.ServerCpuMilliseconds)),
        new(SecondPhase, (_, cell) => DurationsOf(cell, round => round.SecondPhase)),
    ];

    /// <summary>Figures that were not measured. Only pages that say so show them.</summary>
    private static readonly SummaryColumn Computed =
        new(AtOneMillisecond, (run, cell) => Figures.Measured(run.ComputedAgainstDefault(cell, flushMilliseconds: 1)));

    public static IReadOnlyList<string> HeadersOf(IEnumerable<SummaryColumn> columns) => [Mode, .. columns.Select(column => column.Header)];

    /// <summary>A row for each cell of the run.</summary>
    public static IEnumerable<IReadOnlyList<string>> Rows(RecordedRun run, IReadOnlyList<SummaryColumn> columns) => Rows(run, columns, run.Cells);

    /// <summary>The rows begin with the mode, or with the whole cell if the mode alone does not identify it.</summary>
    public static IEnumerable<IReadOnlyList<string>> Rows(RecordedRun run, IReadOnlyList<SummaryColumn> columns, IReadOnlyList<CellResult> cells)
    {
        var severalGroups = cells.Select(cell => cell.Cell.Group).Distinct(StringComparer.Ordinal).Skip(1).Any();
        return cells.Select(cell => (IReadOnlyList<string>)
        [
            severalGroups || cell.Cell.Axes.Any(axis => run.Document.Implied?.ContainsKey(axis) == true) ? cell.Cell.ToString() : cell.Cell.Mode,
            .. columns.Select(column => column.Text(run, cell)),
        ]);
    }

    /// <summary>The columns of those headers, in their order.</summary>
    public static IReadOnlyList<SummaryColumn> Named(RecordedRun run, params IEnumerable<string> headers) =>
    [
        .. headers.Select(header => SpeedOf(run).Concat(Costs).Append(Computed)
            .Single(column => string.Equals(column.Header, header, StringComparison.Ordinal))),
    ];

    internal static string IntervalOf(Estimate? rate) =>
        rate?.Factor is null ? Figures.None : $"{Figures.Measured(rate.Low)} to {Figures.Measured(rate.High)}";

    internal static string ToStrictestOf(RecordedRun run, CellResult cell) => RatioOf(cell, run.AgainstStrictest(cell), run.IsStrictest(cell));

    private static string RatioOf(CellResult cell, Comparison? comparison, bool isReference) =>
        isReference && cell.Rate is not null ? "1" : comparison?.ToString() ?? Figures.None;

    private static string MeanCost(CellResult cell, Func<MessageCosts, Reading?> cost) =>
        Figures.Measured(cell.MeanOf(round => cost(round.Costs)?.Value));

    // A mean of 99th percentiles would hide the round with the longest waits.
    private static string DurationsOf(CellResult cell, Func<RoundDocument, Durations?> measured)
    {
        var durations = cell.Counting.Select(measured).OfType<Durations>().ToList();
        return durations.Count == 0
            ? Figures.None
            : $"{Figures.Measured(durations.Average(each => each.P50Milliseconds))}/{Figures.Measured(durations.Max(each => each.P99Milliseconds))}";
    }
}

/// <summary>A column of the summary: its header, and its text for a cell.</summary>
internal sealed record SummaryColumn(string Header, Func<RecordedRun, CellResult, string> Text);
