namespace Kit.Runner.Results.Published;

/// <summary>A published table next to ours: <c>experiment.md</c>, the terminal, and the block of a page.</summary>
public static class ExperimentReport
{
    /// <summary>The report's name in the folder of its run.</summary>
    public const string FileName = "experiment.md";

    /// <summary>What the columns mean.</summary>
    public const string Legend =
        "Ratio: to the base of the same table; ours round by round, with its 95 % interval. " +
        "Agrees: the published ratio is within our interval. Same direction: both are faster than their base, or both slower, by another factor. " +
        "Opposite: one is faster, the other slower. No clear difference: our interval has 1 in it, and not the published ratio. " +
        "Messages per second of another machine, year and server are not compared.";

    private const string Row = "Published as";
    private const string Cell = "Repeated by";
    private const string Verdict = "Verdict";

    private static readonly IReadOnlyList<string> Headers =
        [Row, "Published msg/s", "Published ratio", Cell, "Our msg/s", "Our ratio", "95 % interval", Verdict];

    /// <param name="experiment">What was published.</param>
    /// <param name="run">The run that repeats it.</param>
    public static ReportFile FileOf(PublishedExperiment experiment, RecordedRun run)
    {
        ArgumentNullException.ThrowIfNull(experiment);
        ArgumentNullException.ThrowIfNull(run);
        return new ReportFile(FileName, output =>
        {
            output.WriteLine($"# {experiment.Name}\n");
            foreach (var line in LinesOf(experiment, run))
                output.WriteLine(line);
            if (run.Document.Settings.Quick)
                output.WriteLine("\n**A quick run: it shows that it works, not how fast it is.**");
            output.WriteLine($"\n{Legend}\n\n## Our run\n");
            foreach (var fact in RunFacts.Of(run))
                output.WriteLine($"- {fact.Name}: {MarkdownTables.Escaped(fact.Fact)}");
            output.WriteLine($"\nEvery round of ours is in [{RunFolder.TablesFile}]({RunFolder.TablesFile}).");
        });
    }

    /// <param name="experiment">What was published.</param>
    /// <param name="run">The run that repeats it.</param>
    /// <param name="output">Where to; plain text, no colours.</param>
    /// <param name="width">Columns of the terminal.</param>
    public static void WriteTerminal(PublishedExperiment experiment, RecordedRun run, TextWriter output, int width)
    {
        ArgumentNullException.ThrowIfNull(experiment);
        ArgumentNullException.ThrowIfNull(output);
        var rows = RepeatedRow.Of(experiment, run);
        TerminalSummary.WriteTable(TerminalSummary.ConsoleOn(output, width), experiment.Name, Headers, rows.Select(CellsOf), IsFigure);
        foreach (var line in OrderOf(rows))
            output.WriteLine(line);
        output.WriteLine(OursOf(run));
        output.WriteLine(Legend);
    }

    /// <summary>The question, the table, what the two have in common, and what is different here.</summary>
    internal static IEnumerable<string> LinesOf(PublishedExperiment experiment, RecordedRun run)
    {
        var rows = RepeatedRow.Of(experiment, run);
        return
        [
            $"**Asked**: {experiment.Question}",
            "",
            $"**Published**: {experiment.Source}.",
            "",
            .. MarkdownTables.LinesOf(Headers, rows.Select(CellsOf), IsFigure),
            "",
            .. OrderOf(rows).Select(line => $"- {line}"),
            "",
            "**What is different here**:",
            "",
            .. experiment.Differences.Select(difference => $"- {difference}"),
        ];
    }

    private static string OursOf(RecordedRun run)
    {
        var settings = run.Document.Settings;
        return $"Ours: {Figures.Count(settings.Rounds)} × {Figures.Count(settings.Messages)} messages, concurrency {Figures.Count(settings.Concurrency)}, " +
               $"{Figures.Count(settings.SeedRows)} rows seeded, {Figures.Day(run.Document.StartedUtc)}.";
    }

    private static IEnumerable<string> OrderOf(IReadOnlyList<RepeatedRow> rows)
    {
        var measured = rows.Where(row => row.PerSecond is not null).ToList();
        if (measured.Count < rows.Count)
            return [$"Not measured: {string.Join(", ", rows.Except(measured).Select(row => row.Published.Title))}."];
        var verdicts = rows.Select(row => row.Agreement).Where(agreement => agreement is not Agreement.Base).CountBy(agreement => agreement);
        return
        [
            $"From slow to fast, published: {InOrder(row => row.Published.PerSecond)}.",
            $"From slow to fast, ours: {InOrder(row => row.PerSecond!.Value)}.",
            $"Ratios: {string.Join(", ", verdicts.Select(kind => $"{Figures.Count(kind.Value)} × {TextOf(kind.Key)}"))}.",
        ];

        string InOrder(Func<RepeatedRow, double> figure) => string.Join(", ", rows.OrderBy(figure).Select(row => row.Published.Title));
    }

    private static IReadOnlyList<string> CellsOf(RepeatedRow row) =>
    [
        row.Published.Title, row.Published.Figure, Figures.Measured(row.PublishedRatio), row.Published.Cell,
        Figures.Measured(row.PerSecond), row.Agreement is Agreement.Base ? Figures.Measured(1) : Figures.Measured(row.Ratio?.Value),
        row.Interval?.ToString() ?? Figures.None, TextOf(row.Agreement),
    ];

    private static string TextOf(Agreement agreement) => agreement switch
    {
        Agreement.Base => "base",
        Agreement.Agrees => "agrees",
        Agreement.SameDirection => "same direction",
        Agreement.Opposite => "opposite",
        Agreement.NoClearDifference => "no clear difference",
        Agreement.TooFewRounds => $"n < {Figures.Plain(Comparison.EnoughRounds)}",
        Agreement.NotMeasured => "not measured",
        _ => throw new InvalidOperationException($"No text for {agreement}."),
    };

    private static bool IsFigure(string header) => header is not (Row or Cell or Verdict);
}
