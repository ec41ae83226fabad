using Kit.Modes;

namespace Kit.Runner.Results.Pages;

/// <summary>Blocks with a table of one run, and its source below.</summary>
internal static class TablesOfARun
{
    /// <summary>The gain of the bare endpoint on PostgreSQL by fewer flushes, and by batches, next to one flushed message at a time.</summary>
    public static BlockText Gains(BlockSources sources)
    {
        var run = sources.Run;
        var others = run.Run.Cells.Where(cell => SettingsOf(cell).Any()).ToList();
        if (others.Count == 0)
        {
            throw new KitException(
                $"the run in {run.Folder} has no cell with fewer flushes or in batches.", "Name one that has: run --flush every,last --batch 1,10");
        }

        if (run.Run.Cells.Select(cell => cell.Cell.Without(AxisName.Flush).Without(AxisName.Batch).Group).Distinct().Skip(1).Any())
        {
            throw new KitException(
                $"the cells of the run in {run.Folder} differ in more than mode, flush and batch.", "Name one of one framework, transport and scenario.");
        }

        return BlockText.Of(
            [
                new("Mode", mode => $"`{mode}`", IsFigure: false),
                new("Default, msg/s", mode => run.Run.Cells.FirstOrDefault(cell => cell.Cell.Mode == mode && !SettingsOf(cell).Any())?.Rate is { } rate
                    ? $"{Figures.Measured(rate.Mean)} ({SummaryTable.IntervalOf(rate)})"
                    : Figures.None),
                .. others.SelectMany(SettingsOf).Distinct().Select(setting => new Column<string>(
                    $"`--{setting.Axis} {setting.Value}`",
                    mode => others.Find(cell => cell.Cell.Mode == mode && SettingsOf(cell).SequenceEqual([setting])) is { } other
                        ? run.Run.AgainstDefault(other)?.WithoutReading ?? Figures.None
                        : Figures.None)),
            ],
            others.Select(cell => cell.Cell.Mode).Distinct(),
            $"Ratios to the default, in brackets their 95 % interval. {From(sources)}. Compare its figures with each other only.");

        static IEnumerable<(string Axis, string Value)> SettingsOf(CellResult cell) =>
            cell.Cell.Values.Where(value => value.Axis is AxisName.Flush or AxisName.Batch);
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
            ModeGrid.Of(slopes, slope => slope.Cell, found => string.Join("; ", found.Select(slope => Figures.Measured(slope.Trips?.Mean)))),
            $"{From(sources)}, measured through a proxy that adds {string.Join(", ", distances)} to each round trip. Means; the tables have their intervals.");
    }

    private static string From(BlockSources sources) => $"From {sources.LinkTo(sources.Run)}, {sources.Run.Settings}";
}
