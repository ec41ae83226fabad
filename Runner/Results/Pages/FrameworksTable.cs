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
        var shown = cells.SelectMany(cell => cell.Storms).Where(storm => storm.Verdict.IsConclusive()).ToList();
        return BlockText.Of<MeasuredCell>(
            [
                new("Cell", cell => $"`{ModesTable.NameOf(cell.Name)}`", IsFigure: false),
                new($"`{SpeedSource.LikeExperiments}`, msg/s", cell => ModesTable.RateOf(cell.Speed)),
                new("Ratio to bare", cell => SummaryTable.ToBareOf(run.Run, cell.Speed)),
                new("Storm", cell => TextOf(cell.Storms, ModesTable.SeenIn), IsFigure: false),
                new("Restart p50/max, ms", cell => TextOf(cell.Storms, RestartIn)),
            ],
            cells,
            [
                $"*Storm*: {ModesTable.WhatOf(shown)}[class]({sources.LinkTo(ModesTable.Classes)}) that fits. " +
                $"{ModesTable.ZeroOf(shown)} {ModesTable.MoreThanPromised} *Restart*: from the start of a process after a kill until a handler has returned.",
                "",
                $"From {sources.LinkTo(run)}, {run.SettingsOf([.. cells.Select(cell => cell.Speed)])}, " +
                $"and {sources.MadeIn(storms)}{ModesTable.BuildOf(run, storms)}; mean and 95 % interval.",
                .. ModesTable.ReasonsOf(shown),
            ]);
    }

    /// <summary>The cells whose handler sends, each with the storms over it. One storm at least shows something.</summary>
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

        return cells.Exists(cell => cell.Storms.Any(storm => storm.Verdict.IsConclusive())) ? cells : throw new KitException(
            $"{storms.Folder} has no storm over a cell of {run.Folder} that shows something.", "Name the folder of storms over them: faults --storm");
    }

    private static string TextOf(IEnumerable<FaultResult> storms, Func<FaultResult, string> text) =>
        string.Join("; ", storms.Select(text).DefaultIfEmpty(Figures.None));

    private static string RestartIn(FaultResult storm) => storm.Verdict.IsConclusive() && storm.Storm!.RestartP50 is { } median
        ? $"{Figures.Measured(median)}/{Figures.Measured(storm.Storm.RestartMost)}"
        : Figures.None;
}

/// <summary>A cell with its speed, and the storms over it.</summary>
internal sealed record MeasuredCell(CellResult Speed, IReadOnlyList<FaultResult> Storms)
{
    public CellName Name => Speed.Cell;
}
