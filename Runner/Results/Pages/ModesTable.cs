using Kit.Modes;
using Kit.Runner.Results.Faults;

namespace Kit.Runner.Results.Pages;

/// <summary>The modes of the bare endpoint on PostgreSQL next to each other: speed, result of a storm, and advice.</summary>
internal static class ModesTable
{
    internal const string Classes = "docs/reference/guarantees.md#classes-of-messages";

    /// <summary>The strictest of the shown modes.</summary>
    private static readonly string RatioTo = $"Ratio to `{TransactionMode.FullDtc}`";

    public static BlockText Write(BlockSources sources)
    {
        var (run, storms) = (sources.Run, sources.Storms);
        return BlockText.Of(
            [
                new("Mode", mode => $"`{mode}`", IsFigure: false),
                new("msg/s", mode => RateOf(run.CellOf(mode))),
                new(RatioTo, mode => SummaryTable.ToStrictestOf(run.Run, run.CellOf(mode))),
                new("Storm", mode => GuaranteeTables.NotOnceOf(storms.StormOf(mode)), IsFigure: false),
                new("Use it when", mode => mode.UseWhen, IsFigure: false),
                new("In NServiceBus", mode => mode.InNServiceBus ?? Figures.None, IsFigure: false),
            ],
            ShownCells.Modes,
            $"The handler inserts a row and sends a message (`{SpeedSource.LikeExperiments}`). " +
            $"*Storm*: {WhatOf([.. ShownCells.Modes.Select(storms.StormOf)])}[class]({sources.LinkTo(Classes)}). " +
            ZeroOf([.. ShownCells.Modes.Select(storms.StormOf)]) + " " +
            $"From [one run]({sources.LinkTo(run.Tables)}) of {run.Settings} " +
            $"and [storms]({sources.LinkTo(storms.Tables)}){BlockSources.LackOf(storms)}{BuildOf(run, storms)}; mean and 95 % interval." +
            (run.Run.Document.Disk is { } disk ? $" A flush of the disk took {Figures.Measured(disk.Flush.P50Milliseconds)} ms at the median." : ""));
    }

    internal static string RateOf(CellResult cell) => cell.Rate is not { } rate ? Figures.None
        : rate.Factor is null ? Figures.Measured(rate.Mean)
        : $"{Figures.Measured(rate.Mean)} ({Figures.Measured(rate.Low)} to {Figures.Measured(rate.High)})";

    internal static string WhatOf(IReadOnlyList<FaultResult> storms) =>
        $"{FromTo(storms.Select(storm => storm.Messages))} messages of two rows and a send, " +
        $"{FromTo(storms.Select(storm => storm.Storm!.Kills))} kills of the process, " +
        $"{FromTo(storms.Select(storm => storm.Storm!.Cuts))} cuts of its connections. The column counts the messages that were not handled exactly once, by ";

    internal static string ZeroOf(IReadOnlyList<FaultResult> storms) =>
        $"A 0: none was seen; of {FromTo(storms.Select(storm => storm.Storm!.Faults))} such kills and cuts, fewer than 3 cause one (95 % confidence).";

    private static string FromTo(IEnumerable<int> counts)
    {
        var ordered = counts.Order().Select(count => Figures.Count(count)).Distinct(StringComparer.Ordinal).ToList();
        return ordered.Count == 1 ? ordered[0] : $"{ordered[0]} to {ordered[^1]}";
    }

    /// <summary>Builds of one commit differ, too: in changes that are not committed, and in their optional packages.</summary>
    internal static string BuildOf(RunSource run, FaultSource storms)
    {
        var (measured, stormed) = (run.Run.Document, storms.Document);
        return measured.Commit?.IsSameBuildAs(stormed.Commit) is not true ? " of another build"
            : (measured.Fingerprint ?? stormed.Fingerprint) == (stormed.Fingerprint ?? measured.Fingerprint) ? ""
            : " of a build with other optional packages";
    }
}
