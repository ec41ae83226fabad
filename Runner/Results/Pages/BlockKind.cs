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
        new("frameworks", FrameworksTable.Write),
        new("frameworks-chart", FrameworksChart.Write),
        new("gains", TablesOfARun.Gains),
        new("processes-efficiency", TablesOfARun.Efficiency),
        new("found-rates", FoundRates.Write),
        new("round-trips", TablesOfARun.RoundTrips),
        new("every-point", TablesOfPoints.Write),
        new("faults", FaultsByMode.Write),
        new("claims", ClaimsTable.Write),
        new("what-runs", WhatRuns.Write),
        .. PublishedExperiment.All.Select(experiment => new BlockKind(experiment.Name, sources => RepeatedExperiment.Write(experiment, sources))),
    ];

    /// <exception cref="KitException">There is no such block.</exception>
    public static BlockKind Of(Block block) => All.FirstOrDefault(kind => kind.Name == block.Name) ?? throw new KitException(
        $"{block.Place}: unknown block '{block.Name}'. Blocks: {string.Join(", ", All.Select(kind => kind.Name))}.",
        "Name one of them; a new one is a method in Runner/Results/Pages and its line in BlockKind.");
}

/// <summary>The new content of a block.</summary>
internal sealed record BlockText(params IReadOnlyList<string> Lines)
{
    /// <summary>The files that the lines show.</summary>
    public IReadOnlyList<(string Path, string Text)> Pictures { get; init; } = [];

    /// <summary>Notes about lines that were left as they are, because this build cannot tell what they must be.</summary>
    public IReadOnlyList<string> Kept { get; init; } = [];

    /// <summary>A table, and its source below it.</summary>
    public static BlockText Of(Table table, params IEnumerable<string> below) => new([.. table.Lines, "", .. below]);

    /// <summary>A table of Markdown, and its source below it.</summary>
    public static BlockText Of<T>(IEnumerable<Column<T>> columns, IEnumerable<T> rows, params IEnumerable<string> below) =>
        Of(Table.Of([.. columns.Select(column => column with { IsMarkdown = true })], rows), below);
}
