namespace Kit.Runner.Results;

/// <summary>The report of a run as <c>tables.md</c>: its facts, a table per cell, the summary, left-out cells, notes.</summary>
public static class MarkdownTables
{
    private static readonly IReadOnlyList<string> Marks = ["|", "*", "<", "`"];

    /// <param name="graphs">As the report refers to it.</param>
    public static void Write(RecordedRun run, string graphs, TextWriter output)
    {
        output.WriteLine($"# Run of {Figures.Moment(run.Document.StartedUtc)}");
        output.WriteLine();
        WriteTable(RunFacts.Headers, RunFacts.Of(run).Select(fact => (IReadOnlyList<string>)[fact.Name, fact.Fact]), output);
        if (ReportText.WarningOf(run.Document) is { } warning)
        {
            output.WriteLine();
            output.WriteLine($"**{warning}**");
        }

        WriteRounds(run, graphs, output);
        WriteSummary(run, output);
        WriteGrids(run, graphs, output);
        WriteServiceTime(run, output);
        WriteRoundTrips(run, output);
        WriteProbes(run, output);
        WriteList("Left out", LeftOutLines.Of(run.Document.LeftOut), output);
        WriteList("Notes", RoundNotes.Of(run), output);
    }

    private static void WriteRounds(RecordedRun run, string graphs, TextWriter output)
    {
        var scale = GraphScale.Of(run.Rounds, SvgGraphs.MostBins);
        output.WriteLine();
        output.WriteLine("## Rounds");
        output.WriteLine();
        output.WriteLine(ReportText.Brackets);
        output.WriteLine(ReportText.ScaleOf(scale));
        foreach (var group in run.Groups)
        {
            output.WriteLine();
            output.WriteLine($"### {group.Key}");
            foreach (var result in group)
            {
                output.WriteLine();
                output.WriteLine($"#### {result.Cell.Mode}");
                output.WriteLine();
                WriteTable(RoundTable.Headers, RoundTable.Rows(result, round => SvgGraphs.ImageOf(graphs, round)), output);
            }
        }
    }

    private static void WriteSummary(RecordedRun run, TextWriter output)
    {
        output.WriteLine();
        output.WriteLine("## Summary");
        output.WriteLine();
        IReadOnlyList<SummaryColumn> columns = [.. SummaryTable.SpeedOf(run), .. SummaryTable.Costs];
        WriteTable(SummaryTable.HeadersOf(columns), SummaryTable.Rows(run, columns), output);
        output.WriteLine();
        if (ReportText.WarningOf(run.Document) is { } warning)
            output.Write($"**{warning}** ");
        output.WriteLine(ReportText.SummaryLegendOf(run));
    }

    private static void WriteGrids(RecordedRun run, string graphs, TextWriter output)
    {
        foreach (var table in GridTable.Of(run))
        {
            WriteSection($"By {table.Axis}", table.Headers, table.Rows, table.IsFigure, GridTable.Legend, output);
            output.WriteLine($"\n{new GridChart(table).ImageOf(graphs)}");
        }

        if (EfficiencyTable.Of(run) is { Rows.Count: > 0 } efficiency)
            WriteSection(EfficiencyTable.Title, efficiency.Headers, efficiency.Rows, EfficiencyTable.IsFigure, EfficiencyTable.Legend, output);
    }

    private static void WriteServiceTime(RecordedRun run, TextWriter output)
    {
        if (!ServiceTimeTable.IsIn(run))
            return;
        var columns = ServiceTimeTable.Columns;
        WriteSection(
            ServiceTimeTable.Title, SummaryTable.HeadersOf(columns), SummaryTable.Rows(run, columns), ReportText.IsFigure, ServiceTimeTable.Legend, output);
    }

    private static void WriteRoundTrips(RecordedRun run, TextWriter output)
    {
        if (RoundTripSlope.Of(run) is { Count: > 0 } slopes)
            WriteSection("Round trips", RoundTripTable.Headers, RoundTripTable.Rows(slopes), ReportText.IsFigure, RoundTripTable.Legend, output);
    }

    private static void WriteProbes(RecordedRun run, TextWriter output)
    {
        if (run.Document.Probes.Count == 0)
            return;
        output.WriteLine();
        output.WriteLine("## Seen before measuring");
        output.WriteLine();
        output.WriteLine(ReportText.ProbeLegend);
        output.WriteLine();
        WriteTable(ProbeTable.Headers, ProbeTable.Rows(run), output);
    }

    private static void WriteSection(
        string heading, IReadOnlyList<string> headers, IEnumerable<IReadOnlyList<string>> rows, Func<string, bool> isFigureOf, string legend, TextWriter output)
    {
        output.WriteLine();
        output.WriteLine($"## {heading}");
        output.WriteLine();
        WriteTable(headers, rows, output, isFigureOf);
        output.WriteLine();
        output.WriteLine(legend);
    }

    private static void WriteTable(IReadOnlyList<string> headers, IEnumerable<IReadOnlyList<string>> rows, TextWriter output) =>
        WriteTable(headers, rows, output, ReportText.IsFigure);

    internal static void WriteTable(
        IReadOnlyList<string> headers, IEnumerable<IReadOnlyList<string>> rows, TextWriter output, Func<string, bool> isFigureOf)
    {
        foreach (var line in LinesOf(headers, rows, isFigureOf))
            output.WriteLine(line);
    }

    /// <summary>A table whose cells are text.</summary>
    internal static IEnumerable<string> LinesOf(
        IReadOnlyList<string> headers, IEnumerable<IReadOnlyList<string>> rows, Func<string, bool> isFigureOf) =>
        LinesOfMarkdown(
            [.. headers.Select(header => (Escaped(header), isFigureOf(header)))],
            rows.Select(row => row.Zip(headers, (cell, header) => header is RoundTable.Graph ? cell : Escaped(cell))));

    /// <summary>A table whose cells are Markdown.</summary>
    internal static IEnumerable<string> LinesOfMarkdown(
        IReadOnlyList<(string Header, bool IsFigure)> columns, IEnumerable<IEnumerable<string>> rows) =>
    [
        RowOf(columns.Select(column => column.Header)),
        $"|{string.Concat(columns.Select(column => column.IsFigure ? " ---: |" : " --- |"))}",
        .. rows.Select(RowOf),
    ];

    private static string RowOf(IEnumerable<string> cells) => $"| {string.Join(" | ", cells)} |";

    // The text of a server or a failed process may contain characters with a meaning in Markdown.
    internal static string Escaped(string text) =>
        Marks.Aggregate(text.ReplaceLineEndings(" "), (escaped, mark) => escaped.Replace(mark, "\\" + mark, StringComparison.Ordinal));

    /// <summary>A section with a list of texts; nothing if there are none.</summary>
    internal static void WriteList(string heading, IEnumerable<string> items, TextWriter output)
    {
        foreach (var (at, item) in items.Index())
        {
            if (at == 0)
                output.WriteLine($"\n## {heading}\n");
            output.WriteLine($"- {Escaped(item)}");
        }
    }
}
