using Kit.Modes;
using Kit.Runner.Results.Faults;

namespace Kit.Runner.Results.Pages;

/// <summary>The costs of a mode without a send and with one, as ratios to the two ends: <c>full-dtc</c> and <c>transactions-off</c>.</summary>
internal sealed class ScenarioCosts() : BlockKind("scenario-costs")
{
    private static readonly IReadOnlyList<TransactionMode> References = [TransactionMode.FullDtc, TransactionMode.TransactionsOff];

    public override BlockText Write(BlockSources sources)
    {
        var run = sources.Run;
        return BlockText.Of(
        [
            .. MarkdownTables.LinesOfMarkdown(
                [("Scenario", false), ("Mode", false), ("Mean msg/s", true), .. References.Select(mode => ($"Ratio to `{mode}`", true))],
                [.. RowsOf(run, scenario: null), .. RowsOf(run, SpeedSource.LikeExperiments)]),
            "",
            $"Bare endpoints on PostgreSQL, from {sources.LinkTo(run)}, {run.Settings}. In brackets the 95 % interval of each ratio alone. " +
            "Compare its figures with each other only.",
        ]);
    }

    private static IEnumerable<string[]> RowsOf(RunSource run, string? scenario)
    {
        var cells = ShownCells.Modes.Select(mode => CellOf(run, mode, scenario)).ToList();
        var references = References.Select(reference => CellOf(run, reference, scenario)).ToList();
        return cells.Select(cell => (string[])
        [
            $"`{scenario ?? "insert"}`", $"`{cell.Cell.Mode}`", Figures.Measured(cell.Rate?.Mean),
            .. references.Select(reference => cell == reference ? "1" : RatioOf(cell, reference, run)),
        ]);
    }

    // Without a verdict: those of the run's tables are over all of its cells together.
    private static string RatioOf(CellResult cell, CellResult reference, RunSource run)
    {
        var ratio = cell.Against(reference) ?? throw new KitException(
            $"no round in {run.Folder} counts in both {cell.Cell} and {reference.Cell}.", "Name the folder of a run that has such rounds.");
        return $"{Figures.Measured(ratio.Value)} ({Comparison.OfAll([ratio], Margin.Default)[0].Interval?.ToString() ?? Figures.None})";
    }

    private static CellResult CellOf(RunSource run, TransactionMode mode, string? scenario) => run.Find(mode, scenario) ?? throw new KitException(
        $"the run in {run.Folder} has no cell of bare {mode} on PostgreSQL with the handler '{scenario ?? "insert"}'.",
        "Name the folder of a run that has: run --scenario insert,insert-and-send");
}
