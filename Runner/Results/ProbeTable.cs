namespace Kit.Runner.Results;

/// <summary>One row per probed cell: the order of its commits, its isolation, its handlers at the same time.</summary>
internal static class ProbeTable
{
    private const string Cell = "Cell";
    private const string Ambient = "Ambient transaction";
    private const string Isolation = "Handler's connection";
    private const string Row = "Row is committed";
    private const string Message = "Message leaves the queue";

    public static IReadOnlyList<string> Headers { get; } = [Cell, Ambient, Isolation, Row, Message, "Most at a time", "Body bytes"];

    /// <summary>Columns without figures.</summary>
    public static IReadOnlyList<string> Words { get; } = [Cell, Ambient, Isolation, Row, Message];

    public static IEnumerable<IReadOnlyList<string>> Rows(RecordedRun run) => Rows(run.Document.Probes);

    public static IEnumerable<IReadOnlyList<string>> Rows(IEnumerable<CellProbed> probes) => probes.Select(probe => (IReadOnlyList<string>)
    [
        probe.Cell.ToString(),
        probe.AmbientTransaction ?? "none",
        probe.Isolation ?? Figures.None,
        probe.RowCommits,
        probe.MessageLeaves,
        Figures.Plain(probe.MostTogether),
        probe.BodyBytes is { } bytes ? Figures.Plain(bytes) : Figures.None,
    ]);
}
