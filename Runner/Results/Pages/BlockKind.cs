using Kit.Modes;
using Kit.Runner.Results.Published;

namespace Kit.Runner.Results.Pages;

/// <summary>A block that the kit writes.</summary>
/// <param name="name">As in the marks.</param>
internal abstract class BlockKind(string name)
{
    public static IReadOnlyList<BlockKind> All { get; } =
    [
        new ModesTable(),
        new ModesChart(),
        new HandlingPictures(),
        new RecoveryPicture(),
        new ChoiceTree(),
        new Speeds(),
        new TwoPhase(),
        new Gains(AxisName.Flush, SummaryTable.Flushes, SummaryTable.AtOneMillisecond),
        new Gains(AxisName.Batch, SummaryTable.RedoBound),
        new ProcessesEfficiency(),
        new FoundRates(),
        FollowedLoads.Soaks,
        FollowedLoads.HeldSnapshots,
        new RoundTrips(),
        new ScenarioCosts(),
        new Storms(),
        new EveryPointTable("every-point", crashesServer: false),
        new EveryPointTable("server-points", crashesServer: true),
        new ServerCrashes("server-crashes", isForced: false),
        new ServerCrashes("unflushed-crashes", isForced: true),
        new FaultsByMode(),
        new ClaimsTable(),
        new PublishedRuns(),
        new WhatRuns(),
        new CellsTable(),
        .. PublishedExperiment.All.Select(experiment => new RepeatedExperiment(experiment)),
    ];

    public string Name => name;

    /// <exception cref="KitException">Its folders lack what it needs.</exception>
    public abstract BlockText Write(BlockSources sources);

    /// <exception cref="KitException">There is no such block.</exception>
    public static BlockKind Of(Block block) => All.FirstOrDefault(kind => string.Equals(kind.Name, block.Name, StringComparison.Ordinal))
        ?? throw new KitException(
            $"{block.Place}: unknown block '{block.Name}'. Blocks: {string.Join(", ", All.Select(kind => kind.Name))}.",
            "Name one of them; a new one is a class in Runner/Results/Pages and its line in BlockKind.");
}
