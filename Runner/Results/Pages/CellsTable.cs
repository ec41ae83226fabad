namespace Kit.Runner.Results.Pages;

/// <summary>The cells that can run, and the reasons why others cannot.</summary>
internal static class CellsTable
{
    public static BlockText Write(BlockSources sources)
    {
        var missing = sources.Kinds.Where(kind => kind.IsMissing).Select(NameOf).ToList();
        return new BlockText(
        [
            .. new Table([new("", IsFigure: false), .. ShownCells.Modes.Select(mode => Column.OfMarkdown($"`{mode}`"))], []).Lines,
            .. sources.Kinds.Select(kind => kind.IsMissing ? KeptLines.RowOf(sources, NameOf(kind)) : RowOf(kind)),
            "",
            .. sources.Kinds.SelectMany(kind => kind.IsMissing ? sources.LinesThatBegin(BeginOfReasons(kind)) : ReasonsOf(kind)),
        ]) with
        {
            Kept = [.. missing.Select(KeptLines.Note)],
        };
    }

    private static string NameOf(ShownKind kind) => $"{kind.Framework} / {kind.Transport}{(kind.HasBeenRun ? "" : ", not run yet")}";

    private static string RowOf(ShownKind kind) =>
        $"| {NameOf(kind)} | {string.Join(" | ", ShownCells.Modes.Select(mode => kind.Runs(mode) ? "yes" : "no"))} |";

    private static string BeginOfReasons(ShownKind kind) => $"- **{kind.Framework} / {kind.Transport}**: ";

    private static IEnumerable<string> ReasonsOf(ShownKind kind)
    {
        var reasons = ShownCells.Modes.Where(mode => !kind.Runs(mode)).GroupBy(mode => kind.Modes[mode].Because, StringComparer.Ordinal)
            .Select(modes => $"{string.Join(", ", modes.Select(mode => $"`{mode}`"))}: {modes.Key}.").ToList();
        if (reasons.Count > 0)
            yield return BeginOfReasons(kind) + string.Join(" ", reasons);
    }
}
