namespace Kit.Runner.Results;

/// <summary>The report of a run as <c>tables.md</c>: its facts, a table per cell, the summary, left-out cells, notes.</summary>
public static class MarkdownTables
{
    /// <param name="graphs">As the report refers to it.</param>
    public static void Write(RecordedRun run, string graphs, TextWriter output)
    {
        output.WriteLine($"# Run of {Figures.Moment(run.Document.StartedUtc)}\n");
        RunFacts.TableOf(run).WriteLines(output);
        var warning = ReportText.WarningOf(run.Document);
        if (warning is not null)
            output.WriteLine($"\n**{warning}**");

        WriteRounds(run, graphs, output);
        (SummaryTable.Of(run, [.. SummaryTable.SpeedOf(run), .. SummaryTable.Costs]) with
        {
            Title = "Summary",
            Legend = (warning is null ? "" : $"**{warning}** ") + ReportText.SummaryLegendOf(run),
        }).WriteMarkdown(output);
        foreach (var grid in GridTable.Of(run))
        {
            grid.Table.WriteMarkdown(output);
            output.WriteLine($"\n{new GridChart(grid).ImageOf(graphs)}");
        }

        if (EfficiencyTable.Of(run) is { Rows.Count: > 0 } efficiency)
            efficiency.WriteMarkdown(output);
        if (ServiceTimeTable.IsIn(run))
            ServiceTimeTable.Of(run).WriteMarkdown(output);
        if (RoundTripSlope.Of(run) is { Count: > 0 } slopes)
            RoundTripTable.Of(slopes).WriteMarkdown(output);
        if (run.Document.Probes.Count > 0)
        {
            output.WriteLine($"\n## Seen before measuring\n\n{ProbeTable.Legend}\n");
            Table.Of(ProbeTable.Columns, run.Document.Probes).WriteLines(output);
        }

        WriteList("Left out", CellLeftOut.LinesOf(run.Document.LeftOut), output);
        WriteList("Notes", RoundNotes.Of(run), output);
    }

    /// <summary>A section with a list of texts; nothing if there are none.</summary>
    internal static void WriteList(string heading, IEnumerable<string> items, TextWriter output)
    {
        foreach (var (at, item) in items.Index())
            output.WriteLine((at == 0 ? $"\n## {heading}\n\n" : "") + $"- {Table.Escaped(item)}");
    }

    private static void WriteRounds(RecordedRun run, string graphs, TextWriter output)
    {
        output.WriteLine($"\n## Rounds\n\n{ReportText.Brackets}\n{ReportText.ScaleOf(GraphScale.Of(run.Rounds, SvgGraphs.MostBins))}");
        foreach (var group in run.Groups)
        {
            output.WriteLine($"\n### {group.Key}");
            foreach (var result in group)
            {
                output.WriteLine($"\n#### {result.Cell.Mode}\n");
                RoundTable.Of(result, round => SvgGraphs.ImageOf(graphs, round)).WriteLines(output);
            }
        }
    }
}
