using Kit.Modes;
using Kit.Runner.Results.Faults;

namespace Kit.Runner.Results.Pages;

/// <summary>The costs of a mode without a send and with one, as ratios to the two ends: <c>full-dtc</c> and <c>transactions-off</c>.</summary>
internal static class ScenarioCosts
{
    private static readonly IReadOnlyList<TransactionMode> References = [TransactionMode.FullDtc, TransactionMode.TransactionsOff];

    public static BlockText Write(BlockSources sources)
    {
        var run = sources.Run;
        return BlockText.Of(
            [
                new("Scenario", row => $"`{row.Scenario ?? "insert"}`", IsFigure: false),
                new("Mode", row => $"`{row.Cell.Cell.Mode}`", IsFigure: false),
                new("Mean msg/s", row => Figures.Measured(row.Cell.Rate?.Mean)),
                .. References.Select(mode => new Column<(string? Scenario, CellResult Cell)>(
                    $"Ratio to `{mode}`", row => RatioOf(row.Cell, CellOf(run, mode, row.Scenario), run))),
            ],
            from scenario in new[] { null, SpeedSource.LikeExperiments }
            from mode in ShownCells.Modes
            select (Scenario: scenario, Cell: CellOf(run, mode, scenario)),
            $"Bare endpoints on PostgreSQL, from {sources.LinkTo(run)}, {run.Settings}. In brackets the 95 % interval of each ratio alone. " +
            "Compare its figures with each other only.");
    }

    // Without a verdict: those of the run's tables are over all of its cells together.
    private static string RatioOf(CellResult cell, CellResult reference, RunSource run)
    {
        if (cell == reference)
            return "1";
        var ratio = cell.Against(reference) ?? throw new KitException(
            $"no round in {run.Folder} counts in both {cell.Cell} and {reference.Cell}.", "Name the folder of a run that has such rounds.");
        return $"{Figures.Measured(ratio.Value)} ({Comparison.OfAll([ratio], Margin.Default)[0].Interval?.ToString() ?? Figures.None})";
    }

    private static CellResult CellOf(RunSource run, TransactionMode mode, string? scenario) => run.Find(mode, scenario) ?? throw new KitException(
        $"the run in {run.Folder} has no cell of bare {mode} on PostgreSQL with the handler '{scenario ?? "insert"}'.",
        "Name the folder of a run that has: run --scenario insert,insert-and-send");
}
