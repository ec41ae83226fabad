using Spectre.Console;

namespace Kit.Runner.Results;

/// <summary>The same tables for a terminal: at the end of a run, and whenever one is reported again.</summary>
public static class TerminalSummary
{
    /// <param name="run">What to show.</param>
    /// <param name="output">Where to; plain text, no colors.</param>
    /// <param name="width">Columns of the terminal; cells wrap within it.</param>
    public static void Write(RecordedRun run, TextWriter output, int width)
    {
        var console = ConsoleOn(output, width);
        var scale = GraphScale.Of(run.Rounds, BlockSparkline.MostBins);
        foreach (var result in run.Cells)
            console.Write(TableOf(result.Cell.ToString(), RoundTable.Headers, RoundTable.Rows(result, round => BlockSparkline.Of(round, scale))));
        WriteLines(console, [ReportText.Brackets, ReportText.ScaleOf(scale), ""]);

        console.Write(TableOf("Summary", SummaryTable.Headers, SummaryTable.Rows(run)));
        WriteLines(console, [ReportText.SummaryLegend]);
        WriteList(console, "Left out:", run.Document.LeftOut.Select(left => $"{left.Cell}: {left.Because}"));
        WriteList(console, "Notes:", RoundNotes.Of(run));
        if (run.Document.Ending.State is not RunState.Completed)
            WriteLines(console, ["", $"The run is {run.Document.Ending}."]);
    }

    private static IAnsiConsole ConsoleOn(TextWriter output, int width)
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

    private static Table TableOf(string title, IReadOnlyList<string> headers, IEnumerable<IReadOnlyList<string>> rows)
    {
        var table = new Table { Border = TableBorder.Simple, Title = new TableTitle(Markup.Escape(title)) };
        foreach (var header in headers)
            table.AddColumn(new TableColumn(new Text(header)) { Alignment = AlignmentOf(header, headers) });
        foreach (var row in rows)
            table.AddRow(row.Select(cell => new Text(cell)));
        return table;
    }

    // Names and graphs begin at the left; figures end below each other.
    private static Justify AlignmentOf(string header, IReadOnlyList<string> headers) =>
        string.Equals(header, headers[0], StringComparison.Ordinal) || string.Equals(header, RoundTable.Headers[^1], StringComparison.Ordinal)
            ? Justify.Left
            : Justify.Right;

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
