using Kit.Runner.Results.Loads;

namespace Kit.Runner.Results.Published;

/// <summary>Published tables next to ours: <c>experiment.md</c>, the terminal, and the block of a page.</summary>
public static class ExperimentReport
{
    /// <summary>The report's name in the folder of its results.</summary>
    public const string FileName = "experiment.md";

    /// <summary>The meaning of the columns.</summary>
    public const string Legend =
        "Ratio: to the base of the same table; of drains round by round, with its 95 % interval. " +
        "Agrees: the published ratio is within our interval. Same direction: both are faster than their base, or both slower, by another factor. " +
        "Opposite: one is faster, the other slower. No clear difference: our interval has 1 in it, and the published ratio is clearly another. " +
        "Messages per second of another machine, year and server are not compared.";

    private const string LoadLegend =
        "A load is measured once, so its ratio has no interval. Close: the two ratios are within a quarter of each other. " +
        "No clear difference: ours is within a tenth of its base. Only ours differs: the published one is within a tenth of its base. " +
        "Failed: messages without a known effect, and messages whose effect came later than a user waits for it. " +
        "Our p50 is the median of the latency; a published latency may be another figure. CPU is that of the whole machine.";

    private const string NotTimedOut = "Failed leaves out the messages of users who gave up: the build of these loads did not count them.";

    private const string Stopped = "The loads were not finished, so rows are missing.";

    private const string QuickLine = "A quick run: it shows that it works, not how fast it is.";

    private static readonly IReadOnlyList<Column<RepeatedRow>> Columns =
    [
        new("Published as", row => row.Published.Title, IsFigure: false),
        new("Published msg/s", row => row.Published.Figure),
        new("Published ratio", row => Figures.Measured(row.PublishedRatio)),
        new("Repeated by", row => row.Published.Cell, IsFigure: false),
        new("Our msg/s", row => Figures.Measured(row.PerSecond)),
        new("Our ratio", row => Figures.Measured(RatioOf(row))),
        new("95 % interval", row => row.Interval?.ToString() ?? Figures.None),
        new("Verdict", row => TextOf(row.Agreement), IsFigure: false),
    ];

    /// <summary>Each with the rows of a table for which it is shown; <see langword="null"/>: any.</summary>
    private static readonly IReadOnlyList<(Column<RepeatedLoad> Column, Func<PublishedRow, bool>? IsPublished)> LoadColumns =
    [
        (new("Published as", row => row.Published.Title, IsFigure: false), null),
        (new("Published msg/s", row => row.Published.Figure), row => row.PerSecond is not null),
        (new("Published ratio", row => Figures.Measured(row.PublishedRatio)), row => row.PerSecond is not null),
        (new("Published ms", row => PublishedRow.TextOf(row.Published.Milliseconds)), row => row.Milliseconds is not null),
        (new("Published CPU %", row => PublishedRow.TextOf(row.Published.CpuPercent)), row => row.CpuPercent is not null),
        (new("Published", row => row.Published.Said ?? Figures.None, IsFigure: false), row => row.Said is not null),
        (new("Repeated by", row => row.Published.Cell, IsFigure: false), null),
        (new("Our msg/s", row => Figures.Measured(row.Load?.Reached)), null),
        (new("Our ratio", row => Figures.Measured(row.Ratio)), null),
        (new("Our p50 ms", row => Figures.Measured(row.Load?.Latency?.P50)), null),
        (new("Our CPU %", row => Figures.Measured(row.Load?.CpuShare * 100)), row => row.CpuPercent is not null),
        (new("Our memory MB, first", row => Figures.Measured(MemoryOf(row)?.First)), row => row.Said is not null),
        (new("Our memory MB, last", row => Figures.Measured(MemoryOf(row)?.Last)), row => row.Said is not null),
        (new("Failed", row => LoadReport.ShareOf(row.Load ?? row.Broken)), null),
        (new("Verdict", row => TextOf(row.Agreement), IsFigure: false), row => row.PerSecond is not null),
    ];

    private static readonly IReadOnlyList<Column<ComparedRow>> Compared =
    [
        new("Published as", row => row.Published.Title, IsFigure: false),
        new("Published ratio", row => Figures.Measured(row.PublishedRatio)),
        new("Repeated by", row => row.Published.Cell, IsFigure: false),
        new("Our ratio", row => Figures.Measured(row.Ratio) + (row.Interval is { } interval ? $" ({interval})" : "")),
    ];

    public static ReportFile FileOf(PublishedExperiment experiment, Repetition repetition) => new ReportFile(FileName, output =>
    {
        output.WriteLine($"# {experiment.Name}\n");
        foreach (var line in LinesOf(experiment, repetition))
            output.WriteLine(line);
        if (IsQuick(experiment, repetition))
            output.WriteLine($"\n**{QuickLine}**");
        output.WriteLine($"\n{LegendOf(repetition)}");
        foreach (var run in repetition.Runs)
        {
            output.WriteLine("\n## Our run\n");
            foreach (var fact in RunFacts.Of(run))
                output.WriteLine($"- {fact.Name}: {Table.Escaped(fact.Fact)}");
        }

        output.WriteLine($"\nEvery round of ours is in `{RunFolder.TablesFile}`, and every load in `load.md`, of each command's folder.");
    });

    public static void WriteTerminal(PublishedExperiment experiment, Repetition repetition, TextWriter output, int width)
    {
        foreach (var (table, lines) in TablesOf(experiment, repetition))
        {
            (table.Title.Length > 0 ? table : table with { Title = experiment.Name }).WriteTerminal(TerminalSummary.ConsoleOn(output, width));
            foreach (var line in lines)
                output.WriteLine(line);
        }

        foreach (var run in repetition.Runs)
            output.WriteLine(OursOf(run));
        foreach (var note in NotesOn(repetition))
            output.WriteLine(note);
        if (IsQuick(experiment, repetition))
            output.WriteLine(QuickLine);
        output.WriteLine(LegendOf(repetition));
    }

    /// <summary>The question, the tables, the common ground of both, and the differences here.</summary>
    /// <exception cref="KitException">No measurement repeats one of the rows.</exception>
    internal static IEnumerable<string> LinesOf(PublishedExperiment experiment, Repetition repetition) =>
    [
        $"**Asked**: {experiment.Question}",
        "",
        $"**Published**: {experiment.Source}.",
        "",
        .. TablesOf(experiment, repetition).SelectMany(shown => (IEnumerable<string>)
        [
            .. shown.Table.Title.Length > 0 ? [$"**{shown.Table.Title}**", ""] : Array.Empty<string>(),
            .. shown.Table.Lines,
            "",
            .. shown.Lines.Select(line => $"- {line}"),
            .. shown.Lines.Count > 0 ? [""] : Array.Empty<string>(),
        ]),
        "**What is different here**:",
        "",
        .. experiment.Differences.Concat(NotesOn(repetition)).Select(line => $"- {line}"),
    ];

    /// <summary>Each published ratio next to ours, and the differences here: what a page shows of it.</summary>
    internal static IEnumerable<string> BriefOf(PublishedExperiment experiment, Repetition repetition) =>
    [
        $"{experiment.Source}.",
        "",
        .. from table in experiment.Tables
           let rows = ComparedIn(table, repetition).Where(row => row.Published.PerSecond is not null).ToList()
           where rows.Count > 0
           from line in (IEnumerable<string>)[.. table.Title is { } title ? [$"**{title}**", ""] : Array.Empty<string>(), .. Table.Of(Compared, rows).Lines, ""]
           select line,
        "What is different here:",
        "",
        // Without loads the page describes the run, and its noise.
        .. experiment.Differences.Concat(RowsMissingIn(repetition)).Concat(repetition.HasLoads ? NoiseIn(repetition) : []).Select(line => $"- {line}"),
    ];

    private static IEnumerable<ComparedRow> ComparedIn(PublishedTable table, Repetition repetition)
    {
        if (table.Rows.Any(row => row.Users is not null))
        {
            return RepeatedLoad.Of(table, repetition).Select(
                row => new ComparedRow(row.Published, row.PublishedRatio, row.Ratio, Interval: null));
        }

        return repetition.RunOf(table) is not { } run ? [] : RepeatedRow.Of(table, run).Select(
            row => new ComparedRow(row.Published, row.PublishedRatio, RatioOf(row), row.Interval));
    }

    private static double? RatioOf(RepeatedRow row) => row.Agreement is Agreement.Base ? 1 : row.Ratio?.Value;

    private static bool IsQuick(PublishedExperiment experiment, Repetition repetition) =>
        repetition.Runs.Any(run => run.Document.Settings.Quick) || repetition.Commands.Any(one => experiment.IsQuick(one));

    private static IEnumerable<string> NotesOn(Repetition repetition) =>
    [
        .. RowsMissingIn(repetition),
        .. NoiseIn(repetition),
        .. repetition.Commands.Any(command => command.Load?.Results.Any(load => load.IsTimedOutUnknown) == true) ? [NotTimedOut] : Array.Empty<string>(),
    ];

    private static IEnumerable<string> NoiseIn(Repetition repetition) => repetition.Runs.Select(run => run.NoiseThatCounts).OfType<string>();

    private static IEnumerable<string> RowsMissingIn(Repetition repetition) =>
    [
        .. repetition.Commands.Any(command => command.Load?.IsStopped == true) ? [Stopped] : Array.Empty<string>(),
        .. LoadReport.NoiseIn([.. repetition.Commands.SelectMany(command => command.Load?.Results ?? [])]) is { } noise ? [noise] : Array.Empty<string>(),
    ];

    /// <summary>The meaning of the columns, as far as they are shown.</summary>
    internal static string LegendOf(Repetition repetition) => repetition.HasLoads ? $"{Legend} {LoadLegend}" : Legend;

    private static List<(Table Table, IReadOnlyList<string> Lines)> TablesOf(PublishedExperiment experiment, Repetition repetition)
    {
        var tables = experiment.Tables.Select(table => ShownOf(table, repetition)).OfType<(Table, IReadOnlyList<string>)>().ToList();
        return tables.Count > 0
            ? tables
            : throw new KitException(
                $"The results have none of the cells of {experiment.Name}: " +
                $"{string.Join(", ", experiment.Tables.SelectMany(table => table.Rows).Select(row => row.Cell).Distinct().Take(4))}.",
                $"Name the folder of results that have them, or make one: experiment {experiment.Name}");
    }

    /// <summary>A table next to its repetition; <see langword="null"/> if there is none.</summary>
    private static (Table Table, IReadOnlyList<string> Lines)? ShownOf(PublishedTable table, Repetition repetition)
    {
        if (table.Rows.Any(row => row.Users is not null))
        {
            var loads = RepeatedLoad.Of(table, repetition);
            if (loads.All(row => row.Load is null && row.Broken is null))
                return null;
            var columns = LoadColumns.Where(one => one.IsPublished is null || table.Rows.Any(one.IsPublished)).Select(one => one.Column);
            // What no figure was published of is shown where it was measured.
            var shown = loads.Where(row => row.Load is not null || row.Broken is not null || row.Published.PerSecond is not null);
            return (Table.Of([.. columns], shown) with { Title = table.Title ?? "" }, [.. BrokenOf(loads), .. LateSendersOf(loads)]);
        }

        if (repetition.RunOf(table) is not { } run)
            return null;
        var rows = RepeatedRow.Of(table, run);
        return (Table.Of(Columns, rows) with { Title = table.Title ?? "" }, [.. OrderOf(rows)]);
    }

    private static IEnumerable<string> BrokenOf(IReadOnlyList<RepeatedLoad> loads)
    {
        foreach (var row in loads)
        {
            if (row.Broken is { } broken)
            {
                yield return $"Not counted: {row.Published.Title}, {LoadReport.VerdictOf(broken, limitMilliseconds: null)}: " +
                             $"{Figures.Count(broken.Sent, "message")} sent, {LoadReport.FailedIn(broken)}.";
            }
        }
    }

    private static IEnumerable<string> LateSendersOf(IReadOnlyList<RepeatedLoad> loads)
    {
        List<string> late = [.. loads.Where(row => row.Load is { IsSenderOnTime: false }).Select(row => row.Published.Title)];
        if (late.Count > 0)
            yield return $"The senders were late: {string.Join(", ", late)}. That is in the latency, and the rate may be theirs.";
    }

    private static SoakFigure? MemoryOf(RepeatedLoad row) => row.Load?.Soak?.FirstOrDefault(figure => figure.Title == SoakFigure.WorkingSet);

    private static string OursOf(RecordedRun run)
    {
        var settings = run.Document.Settings;
        return $"Ours: {Figures.Count(settings.Rounds)} × {Figures.Count(settings.Messages)} messages, concurrency {Figures.Count(settings.Concurrency)}, " +
               $"{Figures.Count(settings.SeedRows)} rows seeded, {Figures.Day(run.Document.StartedUtc)}.";
    }

    private static IEnumerable<string> OrderOf(IReadOnlyList<RepeatedRow> all)
    {
        var rows = all.Where(row => row.Published.PerSecond is not null).ToList();
        var measured = rows.Where(row => row.PerSecond is not null).ToList();
        if (measured.Count < rows.Count)
            return [$"Not measured: {string.Join(", ", rows.Except(measured).Select(row => row.Published.Title))}."];
        var verdicts = rows.Select(row => row.Agreement).Where(agreement => agreement is not Agreement.Base).CountBy(agreement => agreement);
        return
        [
            $"From slow to fast, published: {InOrder(row => row.Published.PerSecond!.Value)}.",
            $"From slow to fast, ours: {InOrder(row => row.PerSecond!.Value)}.",
            $"Ratios: {string.Join(", ", verdicts.Select(kind => $"{Figures.Count(kind.Value)} × {TextOf(kind.Key)}"))}.",
        ];

        string InOrder(Func<RepeatedRow, double> figure) => string.Join(", ", rows.OrderBy(figure).Select(row => row.Published.Title));
    }

    private static string TextOf(Agreement agreement) => agreement switch
    {
        Agreement.Base => "base",
        Agreement.Agrees => "agrees",
        Agreement.SameDirection => "same direction",
        Agreement.Opposite => "opposite",
        Agreement.NoClearDifference => "no clear difference",
        Agreement.TooFewRounds => $"n < {Figures.Plain(Comparison.EnoughRounds)}",
        Agreement.NotMeasured => "not measured",
        Agreement.NotPublished => Figures.None,
        Agreement.Close => "close",
        Agreement.OnlyOurs => "only ours differs",
        _ => throw new InvalidOperationException($"No text for {agreement}."),
    };

    /// <summary>A published rate next to that of a drain or a load.</summary>
    /// <param name="Interval"><see langword="null"/> for a load, which is measured once.</param>
    private sealed record ComparedRow(PublishedRow Published, double? PublishedRatio, double? Ratio, RatioInterval? Interval);
}
