using Kit.Modes;

namespace Kit.Runner.Results.Pages;

/// <summary>Blocks with a table of one run, and its source below.</summary>
internal static class TablesOfARun
{
    private static readonly IReadOnlyList<string> Rates =
        [SummaryTable.ValidRounds, SummaryTable.Mean, SummaryTable.Interval, SummaryTable.RatioToStrictest];

    private static readonly IReadOnlyList<TransactionMode> TwoPhaseModes =
        [TransactionMode.FullDtc, TransactionMode.DtcOff, TransactionMode.FullDtcWaiting, TransactionMode.NpgsqlScope];

    /// <summary>The speed of each mode on each framework and transport.</summary>
    public static BlockText Speeds(BlockSources sources) => BlockText.Of(
        RatesOf(
            sources.Run, sources.Run.Run.Cells.Where(cell => ShownCells.IsPlain(cell.Cell)),
            [.. Rates, .. sources.Run.Run.HasSeveralFrameworks ? [SummaryTable.RatioToBare] : Array.Empty<string>()]),
        $"{From(sources)}. *Strictest* is the mode to which a crash can do least on the same framework and transport. *Bare* is the driver alone.");

    /// <summary>The costs of two-phase commit on PostgreSQL: the kit's, the kit's with waiting, and the driver's, next to two transactions.</summary>
    public static BlockText TwoPhase(BlockSources sources) => BlockText.Of(
        RatesOf(sources.Run, TwoPhaseModes.Select(sources.Run.CellOf), [.. Rates, SummaryTable.SecondPhase]),
        $"{From(sources)}. Compare its figures with each other only.");

    /// <summary>The gain of the bare endpoint on PostgreSQL by another value on an axis, next to the default one.</summary>
    /// <param name="columns">Columns about savings and losses.</param>
    public static BlockText Gains(BlockSources sources, string axis, params IEnumerable<string> columns)
    {
        var cells = sources.Run.Run.Cells;
        var others = cells.Where(cell => cell.Cell.On(axis) is not null).ToList();
        return BlockText.Of(
            RatesOf(
                sources.Run, cells.Where(cell => others.Exists(other => other.Cell.Without(axis) == cell.Cell)).Concat(others),
                [SummaryTable.ValidRounds, SummaryTable.Mean, SummaryTable.Interval, SummaryTable.RatioToDefault, .. columns]),
            $"{From(sources)}. *Default* is the same mode without another {axis}. Compare its figures with each other only.");
    }

    /// <summary>The efficiency of several processes that share a queue, by mode.</summary>
    public static BlockText Efficiency(BlockSources sources)
    {
        var run = sources.Run;
        var table = EfficiencyTable.Of(run.Run);
        if (table.Rows.Count == 0)
            throw new KitException($"the run in {run.Folder} has no cell with one process and with several.", "Name a run that has: run --processes 1,2,4");

        return BlockText.Of(table, From(sources) + (run.Run.Document.WorkersNeeded is { } workers
            ? $", handlers on other machines: {Figures.Plain(workers)}."
            : ", clients and servers on one machine."));
    }

    /// <summary>The round trips that a message waits for, in the cells of a run that were measured at several distances.</summary>
    public static BlockText RoundTrips(BlockSources sources)
    {
        var run = sources.Run;
        var slopes = RoundTripSlope.Of(run.Run);
        if (slopes.Count == 0)
            throw new KitException($"the run in {run.Folder} has no cell at several distances.", "Name the folder of a run that has: run --rtt 0ms,5ms");

        var distances = run.Run.Cells.Where(cell => slopes.Any(slope => slope.Cell == cell.Cell.Without(AxisName.RoundTrip)))
            .Select(cell => cell.Cell.On(AxisName.RoundTrip)).Distinct();
        return BlockText.Of(
            RoundTripTable.Of(slopes), $"{From(sources)}, measured through a proxy that adds {string.Join(", ", distances)} to each round trip.");
    }

    private static string From(BlockSources sources) => $"From {sources.LinkTo(sources.Run)}, {sources.Run.Settings}";

    /// <summary>Some cells and some columns of the summary of a run.</summary>
    /// <exception cref="KitException">There are no cells.</exception>
    private static Table RatesOf(RunSource run, IEnumerable<CellResult> chosen, IReadOnlyList<string> headers)
    {
        IReadOnlyList<CellResult> cells = [.. chosen];
        if (cells.Count == 0)
            throw new KitException($"the run in {run.Folder} has none of its cells.", "Name the folder of a run that has.");

        var first = cells.Select(cell => cell.Cell.Group).Distinct().Count() > 1 ? "Framework/transport/mode/access" : "Mode";
        return SummaryTable.Of(run.Run, SummaryTable.Named(run.Run, headers), cells, first);
    }
}
