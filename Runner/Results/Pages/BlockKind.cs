using Kit.Modes;
using Kit.Runner.Results.Published;

namespace Kit.Runner.Results.Pages;

/// <summary>A block that the kit writes.</summary>
/// <param name="Name">As in the marks.</param>
/// <param name="Write">Throws a <see cref="KitException"/> if its folders lack what it needs.</param>
internal sealed record BlockKind(string Name, Func<BlockSources, BlockText> Write)
{
    public static IReadOnlyList<BlockKind> All { get; } =
    [
        new("modes-table", ModesTable.Write),
        new("modes-chart", RateChart.Write),
        new("handling-pictures", HandlingPictures.Write),
        new("recovery-picture", RecoveryPicture.Write),
        new("choice-tree", ChoiceTree.Write),
        new("speeds", TablesOfARun.Speeds),
        new("two-phase", TablesOfARun.TwoPhase),
        new("flush-gains", sources => TablesOfARun.Gains(sources, AxisName.Flush, SummaryTable.Flushes, SummaryTable.AtOneMillisecond)),
        new("batch-gains", sources => TablesOfARun.Gains(sources, AxisName.Batch, SummaryTable.RedoBound)),
        new("processes-efficiency", TablesOfARun.Efficiency),
        new("found-rates", FoundRates.Write),
        new("soaks", FollowedLoads.Soaks),
        new("held-snapshots", FollowedLoads.HeldSnapshots),
        new("round-trips", TablesOfARun.RoundTrips),
        new("scenario-costs", ScenarioCosts.Write),
        new("storms", Storms.Write),
        new("every-point", sources => TablesOfPoints.Write(sources, crashesServer: false)),
        new("server-points", sources => TablesOfPoints.Write(sources, crashesServer: true)),
        new("server-crashes", sources => ServerCrashes.Write(sources, isForced: false)),
        new("unflushed-crashes", sources => ServerCrashes.Write(sources, isForced: true)),
        new("faults", FaultsByMode.Write),
        new("claims", ClaimsTable.Write),
        new("published-runs", PublishedRuns.Write),
        new("what-runs", WhatRuns.Write),
        new("cells", CellsTable.Write),
        .. PublishedExperiment.All.Select(experiment => new BlockKind(experiment.Name, sources => RepeatedExperiment.Write(experiment, sources))),
    ];

    /// <exception cref="KitException">There is no such block.</exception>
    public static BlockKind Of(Block block) => All.FirstOrDefault(kind => kind.Name == block.Name) ?? throw new KitException(
        $"{block.Place}: unknown block '{block.Name}'. Blocks: {string.Join(", ", All.Select(kind => kind.Name))}.",
        "Name one of them; a new one is a method in Runner/Results/Pages and its line in BlockKind.");
}
