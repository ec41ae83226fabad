using Kit.Guarantees;
using Kit.Modes;
using Kit.Runner.Results.Faults;
using Kit.Runner.Results.Points;

namespace Kit.Runner.Results.Pages;

/// <summary>Every cell of a run whose handler sends: its speed, next to what a storm did to its messages.</summary>
internal static class FrameworksTable
{
    public static BlockText Write(BlockSources sources)
    {
        var (run, storms) = (sources.Run, sources.Storms);
        var (cells, stormOver) = CellsOf(sources);
        var shown = cells.SelectMany(StormsOver).ToList();
        return BlockText.Of<CellResult>(
            [
                new("Cell", cell => $"`{NameOf(cell.Cell)}`", IsFigure: false),
                new($"`{SpeedSource.LikeExperiments}`, msg/s", cell => ModesTable.RateOf(cell)),
                new("Ratio to bare", cell => SummaryTable.ToBareOf(run.Run, cell)),
                new("Storm", cell => TextOf(StormsOver(cell), SeenIn), IsFigure: false),
                new("Restart p50/max, ms", cell => TextOf(StormsOver(cell), RestartIn)),
            ],
            cells,
            [
                $"*Storm*: {ModesTable.WhatOf(shown)}[class]({sources.LinkTo(ModesTable.Classes)}). {ModesTable.ZeroOf(shown)} " +
                "≠: more than the mode promises. *Restart*: from the start of a process after a kill until a handler has returned.",
                "",
                $"From {sources.LinkTo(run)}, {run.Settings}, and {sources.MadeIn(storms)}{ModesTable.BuildOf(run, storms)}; mean and 95 % interval.",
                .. shown.Where(storm => storm.Verdict is FaultVerdict.Broken).GroupBy(ReasonOf)
                    .SelectMany(same => (string[])["", $"≠ {string.Join(", ", same.Select(storm => $"`{NameOf(storm.Cell)}`"))}: {same.Key}."]),
            ]);

        IEnumerable<FaultResult> StormsOver(CellResult cell) => stormOver[cell.Cell.Without(AxisName.Scenario)];
    }

    /// <summary>The cells whose handler sends, and the storms over them, by the name without their handler.</summary>
    /// <exception cref="KitException">There is none.</exception>
    internal static (IReadOnlyList<CellResult> Cells, ILookup<CellName, FaultResult> StormOver) CellsOf(BlockSources sources)
    {
        var (run, storms) = (sources.Run, sources.Storms);
        var cells = run.Run.Cells.Where(cell => cell.Cell.On(AxisName.Scenario) == SpeedSource.LikeExperiments).ToList();
        if (cells.Count == 0)
        {
            throw new KitException(
                $"the run in {run.Folder} has no cell whose handler sends.", $"Name one that has: run --scenario {SpeedSource.LikeExperiments}");
        }

        var stormOver = storms.Storms.ToLookup(storm => storm.Cell);
        return cells.Exists(cell => stormOver.Contains(cell.Cell.Without(AxisName.Scenario))) ? (cells, stormOver)
            : throw new KitException($"{storms.Folder} has no storm over a cell of {run.Folder}.", "Name the folder of storms over them: faults --storm");
    }

    private static string TextOf(IEnumerable<FaultResult> storms, Func<FaultResult, string> text) =>
        string.Join("; ", storms.Select(text).DefaultIfEmpty(Figures.None));

    private static string SeenIn(FaultResult storm) => storm.Verdict switch
    {
        FaultVerdict.Kept => GuaranteeTables.NotOnceOf(storm),
        FaultVerdict.Broken => $"{GuaranteeTables.NotOnceOf(storm)} ≠",
        var nothing => Words.Of(nothing),
    };

    private static string ReasonOf(FaultResult storm) => string.Join(
        "; ",
        storm.WithoutEvidence.Select(seen => $"the evidence of {Figures.Count(seen.Messages)} {Words.Of(seen.Class)} was not stored")
            .Prepend(storm.Known ?? "no known limit explains all of it"));

    private static string RestartIn(FaultResult storm) => storm.Storm!.RestartP50 is { } median
        ? $"{Figures.Measured(median)}/{Figures.Measured(storm.Storm.RestartMost)}"
        : Figures.None;

    private static string NameOf(CellName cell) => string.Join(
        '/', cell.Values.Where(value => value is not (AxisName.Access, ShownCells.Access) and not (AxisName.Scenario, _)).Select(value => value.Value));
}
