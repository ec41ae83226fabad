namespace Kit.Runner.Results.Pages;

/// <summary>Some cells and some columns of the summary of a run.</summary>
internal static class RateTable
{
    /// <exception cref="KitException">There are no cells.</exception>
    public static IEnumerable<string> Of(RunSource run, IReadOnlyList<CellResult> cells, IReadOnlyList<string> headers)
    {
        if (cells.Count == 0)
            throw new KitException($"the run in {run.Folder} has none of its cells.", "Name the folder of a run that has.");

        var columns = SummaryTable.Named(run.Run, headers);
        var first = cells.Select(cell => cell.Cell.Group).Distinct(StringComparer.Ordinal).Count() > 1 ? "Framework/transport/mode/access" : SummaryTable.Mode;
        return MarkdownTables.LinesOf(
            [first, .. headers], SummaryTable.Rows(run.Run, columns, cells), header => header != first && ReportText.IsFigure(header));
    }
}
