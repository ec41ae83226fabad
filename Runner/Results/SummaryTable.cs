namespace Kit.Runner.Results;

/// <summary>One row per cell: how fast, how sure, against full-dtc, and where the time went.</summary>
internal static class SummaryTable
{
    public static IReadOnlyList<string> Headers { get; } =
    [
        "Mode",
        "Valid rounds",
        "Mean msg/s",
        "95 % interval",
        "Ratio to full-dtc",
        "Max msg/s",
        "Commits",
        "Flushes",
        "WAL bytes",
        "Two-phase commits",
        "Handler CPU ms",
        "Server CPU ms",
        "2nd phase ms p50 / p99",
    ];

    public static IEnumerable<IReadOnlyList<string>> Rows(RecordedRun run)
    {
        var severalGroups = run.Groups.Skip(1).Any();
        return run.Cells.Select(result => RowOf(run, result, severalGroups ? result.Cell.ToString() : result.Cell.Mode));
    }

    private static IReadOnlyList<string> RowOf(RecordedRun run, CellResult result, string label) =>
    [
        label,
        $"{Figures.Plain(result.Counting.Count)} of {Figures.Plain(run.Document.Settings.Rounds)}",
        Figures.Measured(result.Rate?.Mean),
        result.Rate?.HalfWidth is null ? Figures.None : $"{Figures.Measured(result.Rate.Low)} to {Figures.Measured(result.Rate.High)}",
        RecordedRun.IsBaseline(result) ? "1" : run.AgainstFullDtc(result)?.ToString() ?? Figures.None,
        Figures.Measured(result.Counting.Max(round => round.Throughput.MaximumInOneSecond)),
        MeanCost(result, costs => costs.Commits),
        MeanCost(result, costs => costs.WalFlushes),
        MeanCost(result, costs => costs.WalBytes),
        MeanCost(result, costs => costs.TwoPhaseCommits),
        MeanCost(result, costs => costs.HandlerCpuMilliseconds),
        MeanCost(result, costs => costs.ServerCpuMilliseconds),
        LagOf(result),
    ];

    private static string MeanCost(CellResult result, Func<MessageCosts, Reading> cost) =>
        Figures.Measured(result.MeanOf(round => cost(round.Costs).Value));

    // A mean of 99th percentiles would hide the round that had the longest waits.
    private static string LagOf(CellResult result)
    {
        var lags = result.Counting.Select(round => round.SecondPhase).OfType<SecondPhaseLag>().ToList();
        return lags.Count == 0
            ? Figures.None
            : $"{Figures.Measured(lags.Average(lag => lag.P50Milliseconds))} / {Figures.Measured(lags.Max(lag => lag.P99Milliseconds))}";
    }
}
