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
        var cells = CellsOf(sources);
        var shown = cells.SelectMany(cell => cell.Storms).ToList();
        return BlockText.Of<MeasuredCell>(
            [
                new("Cell", cell => $"`{NameOf(cell.Name)}`", IsFigure: false),
                new($"`{SpeedSource.LikeExperiments}`, msg/s", cell => ModesTable.RateOf(cell.Speed)),
                new("Ratio to bare", cell => SummaryTable.ToBareOf(run.Run, cell.Speed)),
                new("Storm", cell => TextOf(cell.Storms, SeenIn), IsFigure: false),
                new("Restart p50/max, ms", cell => TextOf(cell.Storms, RestartIn)),
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
    }

    /// <summary>The cells whose handler sends, each with the storms over it, of which one at least has some.</summary>
    /// <exception cref="KitException">There is none.</exception>
    internal static IReadOnlyList<MeasuredCell> CellsOf(BlockSources sources)
    {
        var (run, storms) = (sources.Run, sources.Storms);
        var stormOver = storms.Storms.ToLookup(storm => storm.Cell);
        var cells = run.Run.Cells.Where(cell => cell.Cell.On(AxisName.Scenario) == SpeedSource.LikeExperiments)
            .Select(cell => new MeasuredCell(cell, [.. stormOver[cell.Cell.Without(AxisName.Scenario)]])).ToList();
        if (cells.Count == 0)
        {
            throw new KitException(
                $"the run in {run.Folder} has no cell whose handler sends.", $"Name one that has: run --scenario {SpeedSource.LikeExperiments}");
        }

        return cells.Exists(cell => cell.Storms.Count > 0) ? cells
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

/// <summary>A cell with its speed, and the storms over it.</summary>
internal sealed record MeasuredCell(CellResult Speed, IReadOnlyList<FaultResult> Storms)
{
    public CellName Name => Speed.Cell;
}
