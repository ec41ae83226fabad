using Spectre.Console;

namespace Kit.Runner.Results;

/// <summary>The same tables for a terminal: at the end of a run, and when a stored one is reported.</summary>
public static class TerminalSummary
{
    /// <param name="run">What to show.</param>
    /// <param name="output">Where to; plain text, no colours.</param>
    /// <param name="width">Columns of the terminal; cells wrap within it.</param>
    public static void Write(RecordedRun run, TextWriter output, int width)
    {
        var console = ConsoleOn(output, width);
        WriteLines(console, [.. RunFacts.Of(run).Select(fact => $"{fact.Name}: {fact.Fact}"), ""]);
        var scale = GraphScale.Of(run.Rounds, BlockSparkline.MostBins);
        foreach (var result in run.Cells)
            console.Write(TableOf(result.Cell.ToString(), RoundTable.Headers, RoundTable.Rows(result, round => BlockSparkline.Of(round, scale))));
        WriteLines(console, [ReportText.Brackets, ReportText.ScaleOf(scale), ""]);

        console.Write(TableOf("Speed", SummaryTable.HeadersOf(SummaryTable.SpeedOf(run)), SummaryTable.Rows(run, SummaryTable.SpeedOf(run))));
        console.Write(TableOf("Cost of a message", SummaryTable.HeadersOf(SummaryTable.Costs), SummaryTable.Rows(run, SummaryTable.Costs)));
        WriteLines(console, [.. ReportText.WarningOf(run.Document) is { } warning ? [warning] : Array.Empty<string>(), ReportText.SummaryLegendOf(run)]);
        if (RoundTripSlope.Of(run) is { Count: > 0 } slopes)
        {
            console.Write(TableOf("Round trips", RoundTripTable.Headers, RoundTripTable.Rows(slopes)));
            WriteLines(console, [RoundTripTable.Legend]);
        }

        WriteList(console, "Left out:", LeftOutLines.Of(run.Document.LeftOut));
        WriteList(console, "Notes:", RoundNotes.Of(run));
    }

    internal static IAnsiConsole ConsoleOn(TextWriter output, int width)
    {
        var console = AnsiConsole.Create(new AnsiConsoleSettings
        {
            Ansi = AnsiSupport.No,
            ColorSystem = ColorSystemSupport.NoColors,
            Interactive = InteractionSupport.No,
            Out = new AnsiConsoleOutput(output),
        });
        console.Profile.Width = width;
        console.Profile.Capabilities.Unicode = true;
        return console;
    }

    private static Table TableOf(string title, IReadOnlyList<string> headers, IEnumerable<IReadOnlyList<string>> rows) =>
        TableOf(title, headers, rows, ReportText.IsFigure);

    internal static Table TableOf(string title, IReadOnlyList<string> headers, IEnumerable<IReadOnlyList<string>> rows, Func<string, bool> isFigureOf)
    {
        var table = new Table { Border = TableBorder.Simple, Title = new TableTitle(Markup.Escape(title)) };
        foreach (var header in headers)
        {
            var isFigure = isFigureOf(header);
            table.AddColumn(new TableColumn(new Text(header)) { Alignment = isFigure ? Justify.Right : Justify.Left, NoWrap = !isFigure });
        }

        foreach (var row in rows)
            table.AddRow(row.Select(cell => new Text(cell)));
        return table;
    }

    private static void WriteList(IAnsiConsole console, string heading, IEnumerable<string> items)
    {
        var lines = items.Select(item => "- " + item).ToList();
        if (lines.Count > 0)
            WriteLines(console, ["", heading, .. lines]);
    }

    private static void WriteLines(IAnsiConsole console, IEnumerable<string> lines)
    {
        foreach (var line in lines)
            console.WriteLine(line);
    }
}
