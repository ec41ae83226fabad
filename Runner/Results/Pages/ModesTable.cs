using Kit.Guarantees;
using Kit.Modes;
using Kit.Runner.Results.Faults;
using Kit.Runner.Results.Points;

namespace Kit.Runner.Results.Pages;

/// <summary>The modes of the bare endpoint on PostgreSQL next to each other: speed, result of a storm, and advice.</summary>
internal static class ModesTable
{
    internal const string Classes = "docs/reference/guarantees.md#classes-of-messages";
    internal const string MoreThanPromised = "≠: more than the mode promises.";

    /// <summary>The strictest of the shown modes.</summary>
    private static readonly string RatioTo = $"Ratio to `{TransactionMode.FullDtc}`";

    public static BlockText Write(BlockSources sources)
    {
        var (run, storms) = (sources.Run, sources.Storms);
        List<FaultResult> shown = [.. ShownCells.Modes.Select(storms.StormOf)];
        return BlockText.Of(
            [
                new("Mode", mode => $"`{mode}`", IsFigure: false),
                new("msg/s", mode => RateOf(run.CellOf(mode))),
                new(RatioTo, mode => SummaryTable.ToStrictestOf(run.Run, run.CellOf(mode))),
                new("Storm", mode => SeenIn(storms.StormOf(mode)), IsFigure: false),
                new("Use it when", mode => mode.UseWhen, IsFigure: false),
                new("In NServiceBus", mode => mode.InNServiceBus ?? Figures.None, IsFigure: false),
            ],
            ShownCells.Modes,
            [
                $"The handler inserts a row and sends a message (`{SpeedSource.LikeExperiments}`). " +
                $"*Storm*: {WhatOf(shown)}[class]({sources.LinkTo(Classes)}) that fits. {ZeroOf(shown)} " +
                (shown.Exists(storm => storm.Verdict is FaultVerdict.Broken) ? MoreThanPromised + " " : "") +
                $"From [one run]({sources.LinkTo(run.Tables)}) of {run.SettingsOf([.. ShownCells.Modes.Select(run.CellOf)])} " +
                $"and [storms]({sources.LinkTo(storms.Tables)}){BlockSources.LackOf(storms)}{BuildOf(run, storms)}; mean and 95 % interval." +
                (run.Run.Document.Disk is { } disk ? $" A flush of the disk took {Figures.Measured(disk.Flush.P50Milliseconds)} ms at the median." : ""),
                .. ReasonsOf(shown),
            ]);
    }

    internal static string RateOf(CellResult cell) => cell.Rate is not { } rate ? Figures.None
        : rate.Factor is null ? Figures.Measured(rate.Mean)
        : $"{Figures.Measured(rate.Mean)} ({Figures.Measured(rate.Low)} to {Figures.Measured(rate.High)})";

    /// <summary>The findings of a storm in a cell of a table.</summary>
    internal static string SeenIn(FaultResult storm) => storm.Verdict switch
    {
        FaultVerdict.Kept => GuaranteeTables.NotOnceOf(storm),
        FaultVerdict.Broken => $"{GuaranteeTables.NotOnceOf(storm)} ≠",
        var nothing => Words.Of(nothing),
    };

    /// <param name="storms">Show something.</param>
    internal static string WhatOf(IReadOnlyList<FaultResult> storms) =>
        $"{FromTo(storms.Select(storm => storm.Messages))} messages of two rows and a send, " +
        $"{FromTo(storms.Select(storm => storm.Storm!.Kills))} kills of the process, " +
        $"{FromTo(storms.Select(storm => storm.Storm!.Cuts))} cuts of its connections" +
        (HasCrashes(storms) ? $", {FromTo(storms.Select(storm => storm.Storm!.ServerCrashes))} crashes of the database server" : "") +
        ". The column counts the messages that were not handled exactly once, each in the first ";

    /// <inheritdoc cref="WhatOf"/>
    internal static string ZeroOf(IReadOnlyList<FaultResult> storms) =>
        $"A 0: none was seen; of {FromTo(storms.Select(storm => storm.Storm!.Faults))} such " +
        $"{(HasCrashes(storms) ? "kills, cuts and crashes" : "kills and cuts")}, fewer than 3 cause one (95 % confidence).";

    /// <summary>The reasons of broken promises, a paragraph for each.</summary>
    internal static IEnumerable<string> ReasonsOf(IEnumerable<FaultResult> storms) =>
        storms.Where(storm => storm.Verdict is FaultVerdict.Broken).GroupBy(ReasonOf, StringComparer.Ordinal)
            .SelectMany(same => (string[])["", $"≠ {string.Join(", ", same.Select(storm => $"`{NameOf(storm.Cell)}`"))}: {same.Key}."]);

    internal static string NameOf(CellName cell) => string.Join(
        '/', cell.Values.Where(value => value is not (AxisName.Access, ShownCells.Access) and not (AxisName.Scenario, _)).Select(value => value.Value));

    private static string ReasonOf(FaultResult storm) => string.Join(
        "; ",
        storm.WithoutEvidence.Select(seen => $"the evidence of {Figures.Count(seen.Messages)} {Words.Of(seen.Class)} was not stored")
            .Prepend(storm.Known ?? "no known limit explains all of it"));

    internal static bool HasCrashes(IEnumerable<FaultResult> storms) => storms.Any(storm => storm.Storm!.ServerCrashes > 0);

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
