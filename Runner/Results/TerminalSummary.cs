using Spectre.Console;

namespace Kit.Runner.Results;

/// <summary>The tables for a terminal: at the end of a run, and when a stored one is reported.</summary>
public static class TerminalSummary
{
    /// <param name="width">Columns of the terminal; cells wrap between words within it, and a table is wider if a figure or word would not fit.</param>
    public static void Write(RecordedRun run, TextWriter output, int width)
    {
        var console = ConsoleOn(output, width);
        WriteLines(console, [.. RunFacts.Of(run).Select(fact => $"{fact.Name}: {fact.Fact}"), ""]);
        var scale = GraphScale.Of(run.Rounds, BlockSparkline.MostBins);
        foreach (var result in run.Cells)
            RoundTable.Of(result, round => BlockSparkline.Of(round, scale)).WriteTerminal(console);
        WriteLines(console, [ReportText.Brackets, ReportText.ScaleOf(scale), ""]);

        (SummaryTable.Of(run, SummaryTable.SpeedOf(run)) with { Title = "Speed" }).WriteTerminal(console);
        (SummaryTable.Of(run, SummaryTable.Costs) with { Title = "Cost of a message" }).WriteTerminal(console);
        WriteLines(console, [.. ReportText.WarningOf(run.Document) is { } warning ? [warning] : Array.Empty<string>(), ReportText.SummaryLegendOf(run)]);
        foreach (var table in new[]
        {
            ServiceTimeTable.IsIn(run) ? ServiceTimeTable.ShortOf(run) : null,
            RoundTripSlope.Of(run) is { Count: > 0 } slopes ? RoundTripTable.Of(slopes) : null,
        }.OfType<Table>())
        {
            table.WriteTerminal(console);
            console.WriteLine(table.Legend);
        }

        WriteList(console, "Left out:", CellLeftOut.LinesOf(run.Document.LeftOut));
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
