namespace Kit.Runner.Results;

/// <summary>One row per probed cell: the order of its commits, its isolation, its handlers at the same time.</summary>
internal static class ProbeTable
{
    public const string Legend =
        "What each cell did with a few messages, observed from outside and from within the handler. " +
        "A cell that does not do what its label says is not measured.";

    public static IReadOnlyList<Column<CellProbed>> Columns { get; } =
    [
        new("Cell", probe => $"{probe.Cell}", IsFigure: false),
        new("Ambient transaction", probe => probe.AmbientTransaction ?? "none", IsFigure: false),
        new("Handler's connection", probe => probe.Isolation ?? Figures.None, IsFigure: false),
        new("Row is committed", probe => probe.RowCommits, IsFigure: false),
        new("Message leaves the queue", probe => probe.MessageLeaves, IsFigure: false),
        new("Most at a time", probe => Figures.Plain(probe.MostTogether)),
        new("Body bytes", probe => probe.BodyBytes is { } bytes ? Figures.Plain(bytes) : Figures.None),
    ];
}
