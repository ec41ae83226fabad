using Spectre.Console;

namespace Kit.Runner.Results;

/// <summary>The tables for a terminal: at the end of a run, and when a stored one is reported.</summary>
public static class TerminalSummary
{
    // The padding of a column, and the line of the border before it; the line after the last.
    private const int Between = 3;
    private const int End = 1;

    /// <param name="output">Gets plain text, no colours.</param>
    /// <param name="width">Columns of the terminal; cells wrap between words within it, and a table is wider if a figure or word would not fit.</param>
    public static void Write(RecordedRun run, TextWriter output, int width)
    {
        var console = ConsoleOn(output, width);
        WriteLines(console, [.. RunFacts.Of(run).Select(fact => $"{fact.Name}: {fact.Fact}"), ""]);
        var scale = GraphScale.Of(run.Rounds, BlockSparkline.MostBins);
        foreach (var result in run.Cells)
            WriteTable(console, result.Cell.ToString(), RoundTable.Headers, RoundTable.Rows(result, round => BlockSparkline.Of(round, scale)));
        WriteLines(console, [ReportText.Brackets, ReportText.ScaleOf(scale), ""]);

        WriteTable(console, "Speed", SummaryTable.HeadersOf(SummaryTable.SpeedOf(run)), SummaryTable.Rows(run, SummaryTable.SpeedOf(run)));
        WriteTable(console, "Cost of a message", SummaryTable.HeadersOf(SummaryTable.Costs), SummaryTable.Rows(run, SummaryTable.Costs));
        WriteLines(console, [.. ReportText.WarningOf(run.Document) is { } warning ? [warning] : Array.Empty<string>(), ReportText.SummaryLegendOf(run)]);
        if (ServiceTimeTable.IsIn(run))
        {
            var columns = ServiceTimeTable.ShortColumns;
            WriteTable(console, ServiceTimeTable.Title, SummaryTable.HeadersOf(columns), SummaryTable.Rows(run, columns));
            WriteLines(console, [ServiceTimeTable.ShortLegend]);
        }

        if (RoundTripSlope.Of(run) is { Count: > 0 } slopes)
        {
            WriteTable(console, "Round trips", RoundTripTable.Headers, RoundTripTable.Rows(slopes));
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

    private static void WriteTable(IAnsiConsole console, string title, IReadOnlyList<string> headers, IEnumerable<IReadOnlyList<string>> rows) =>
        WriteTable(console, title, headers, rows, ReportText.IsFigure);

    /// <param name="headers">One for each column.</param>
    /// <param name="rows">Each with a cell for each column.</param>
    /// <param name="canWrap">True if a column is right-aligned and may wrap between words. No column ever breaks a word or a figure.</param>
    internal static void WriteTable(
        IAnsiConsole console, string title, IReadOnlyList<string> headers, IEnumerable<IReadOnlyList<string>> rows, Func<string, bool> canWrap)
    {
        var lines = rows.ToList();
        var columns = headers.Select((header, index) =>
        {
            var texts = lines.Select(line => line[index]).Prepend(header).ToList();
            var whole = texts.Max(text => text.Length);
            return (Header: header, Wraps: canWrap(header), Whole: whole, Least: canWrap(header) ? texts.SelectMany(UnitsOf).Max(unit => unit.Length) : whole);
        }).ToList();
        var width = console.Profile.Width;
        var least = columns.Sum(column => column.Least + Between) + End;
        var room = Math.Max(0, width - least);
        var table = new Table { Border = TableBorder.Simple, Title = new TableTitle(Markup.Escape(title)) };
        foreach (var (index, column) in columns.Index())
        {
            var more = Math.Min(column.Whole - column.Least, room / (columns.Count - index));
            room -= more;
            table.AddColumn(new TableColumn(new Text(column.Header))
            {
                Alignment = column.Wraps ? Justify.Right : Justify.Left,
                NoWrap = !column.Wraps,
                Width = column.Least + more,
            });
        }

        foreach (var line in lines)
            table.AddRow(line.Select(cell => new Text(cell)));
        // Spectre would break words to make a table fit.
        console.Profile.Width = Math.Max(width, least);
        console.Write(table);
        console.Profile.Width = width;
    }

    // A limit stays with its sign: < 0.150.
    private static string[] UnitsOf(string text) => text.Replace("< ", "<_", StringComparison.Ordinal).Split(' ');

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
