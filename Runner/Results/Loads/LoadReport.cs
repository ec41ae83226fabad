using System.Globalization;
using CsvHelper;
using Kit.Guarantees;

namespace Kit.Runner.Results.Loads;

/// <summary>The tables of a live load.</summary>
public static class LoadReport
{
    private static readonly IReadOnlyList<string> Headers =
    [
        "Cell", "Rate msg/s", "Sent", "Failed", "p50 ms", "p95 ms", "p99 ms", "p99.9 ms", "Max ms", "Behind at half", "Behind at end", "Sender p99 ms",
        "Verdict",
    ];

    public const string Legend =
        "Latency runs from the moment at which a message was to be sent until its row was committed, by the database's commit timestamp, " +
        "which PostgreSQL takes just before it flushes that commit. " +
        "Failed: messages without a committed row. Behind: messages whose moment had come and whose row was not committed. " +
        "Sender: how late a send began; it is part of the latency.";

    public static void WriteMarkdown(LoadDocument document, TextWriter output)
    {
        ArgumentNullException.ThrowIfNull(document);
        ArgumentNullException.ThrowIfNull(output);
        output.WriteLine($"# Load of {Figures.Moment(document.StartedUtc)}");
        output.WriteLine();
        foreach (var fact in FactsOf(document))
            output.WriteLine($"- {MarkdownTables.Escaped(fact)}");
        output.WriteLine();
        MarkdownTables.WriteTable(Headers, Rows(document), output, IsFigure);
        output.WriteLine();
        output.WriteLine(Legend);
        WriteList("Sustained rates", SustainedIn(document), output);
        WriteList("Notes", NotesOn(document), output);
        WriteList("Left out", LeftOutLines.Of(document.LeftOut), output);
    }

    /// <param name="document">What to show.</param>
    /// <param name="output">Where to; plain text, no colours.</param>
    /// <param name="width">Columns of the terminal.</param>
    public static void WriteTerminal(LoadDocument document, TextWriter output, int width)
    {
        ArgumentNullException.ThrowIfNull(document);
        ArgumentNullException.ThrowIfNull(output);
        var console = TerminalSummary.ConsoleOn(output, width);
        TerminalSummary.WriteTable(console, "Load", Headers, Rows(document), IsFigure);
        foreach (var line in SustainedIn(document).Concat(NotesOn(document)))
            output.WriteLine(line);
        output.WriteLine(Legend);
        foreach (var left in LeftOutLines.Of(document.LeftOut))
            output.WriteLine($"Left out: {left}");
    }

    public static void WriteCsv(LoadDocument document, TextWriter output)
    {
        ArgumentNullException.ThrowIfNull(document);
        using var csv = CsvWriter.Create(output, new CsvWriterOptions { NewLine = "\n" }, leaveOpen: true);
        var axes = CellName.AxesOf(document.Results.Select(result => result.Cell));
        csv.WriteHeader(
        [
            .. axes, "rate_per_second", "outcome", "reasons", "seconds", "sent", "failed", "p50_ms", "p95_ms", "p99_ms", "p999_ms", "max_ms",
            "behind_at_half", "behind_at_end", "sender_p99_ms", "sender_max_ms", .. Enum.GetValues<DeliveryClass>().Select(Words.ColumnOf),
        ]);
        foreach (var result in document.Results)
        {
            var latency = result.Latency;
            csv.WriteRecord(
            [
                .. axes.Select(axis => result.Cell.On(axis, document.Implied)), Text(result.Rate), $"{result.Outcome}",
                string.Join("; ", result.Outcome.Reasons),
                Text(result.Seconds), Text(result.Sent), Text(result.Failed), Text(latency?.P50), Text(latency?.P95), Text(latency?.P99), Text(latency?.P999),
                Text(latency?.Max), Text(result.BehindInTheMiddle), Text(result.BehindAtTheEnd), Text(result.SenderLag?.P99), Text(result.SenderLag?.Max),
                .. Enum.GetValues<DeliveryClass>().Select(kind => result.Accounts.TryGetValue(kind, out var count) ? Text(count) : ""),
            ]);
        }
    }

    private static string Text(IConvertible? value) => value?.ToString(CultureInfo.InvariantCulture) ?? "";

    private static IEnumerable<string> FactsOf(LoadDocument document)
    {
        var settings = document.Settings;
        yield return $"Command: {document.CommandLine}";
        yield return $"Commit: {document.Commit?.Id ?? "unknown"}{(document.Commit is { Dirty: true } ? " with changes" : "")}";
        yield return $"Machine: {document.Host.CpuModel}, {document.Host.Cores} cores, {document.Host.OperatingSystem}, {document.Host.Runtime}";
        yield return $"The kit's own servers: {RunFacts.Listed(document.Servers)}";
        yield return $"Packages: {RunFacts.Listed(document.Packages)}";
        yield return $"Settings: {Figures.Measured(settings.Seconds)} s of sending, concurrency {settings.Concurrency}, " +
                     $"{Figures.Count(settings.SeedRows)} rows seeded, {Figures.Count(settings.WarmUp)} warm-up messages, " +
                     $"{settings.Senders} senders on the same machine";
    }

    private static IEnumerable<IReadOnlyList<string>> Rows(LoadDocument document) =>
        from result in document.Results
        let latency = result.Latency
        select (IReadOnlyList<string>)
        [
            $"{result.Cell}", Figures.Measured(result.Rate), Figures.Count(result.Sent), Figures.Share(result.FailedShare),
            Figures.Measured(latency?.P50), Figures.Measured(latency?.P95), Figures.Measured(latency?.P99), Figures.Measured(latency?.P999),
            Figures.Measured(latency?.Max), Figures.Count(result.BehindInTheMiddle), Figures.Count(result.BehindAtTheEnd),
            Figures.Measured(result.SenderLag?.P99), VerdictOf(result, document.Settings.LimitMilliseconds),
        ];

    private static bool IsFigure(string header) => header is not ("Cell" or "Verdict");

    /// <summary>Whether the rate was sustained, or why not.</summary>
    public static string VerdictOf(LoadResult result, double? limitMilliseconds)
    {
        ArgumentNullException.ThrowIfNull(result);
        return result.ReasonsAgainst(limitMilliseconds) is { Count: > 0 } reasons ? string.Join(", ", reasons) : "sustained";
    }

    private static List<string> SustainedIn(LoadDocument document) => document.Settings.LimitMilliseconds is not { } limit
        ? []
        :
        [
            .. from result in document.Results
               group result by result.Cell into tried
               let best = tried.Where(one => one.ReasonsAgainst(limit).Count == 0).MaxBy(one => one.Rate)
               select best is null
                   ? $"{tried.Key}: no rate that was tried was sustained."
                   : $"{tried.Key}: {Figures.Measured(best.Rate)} messages a second were sustained with p99 {Figures.Measured(best.Latency?.P99)} ms" +
                     (tried.Where(one => one.Rate > best.Rate).MinBy(one => one.Rate) is { } next
                         ? $"; {Figures.Measured(next.Rate)} were not: {string.Join(", ", next.ReasonsAgainst(limit))}."
                         : ". No higher rate was tried."),
        ];

    private static IEnumerable<string> NotesOn(LoadDocument document)
    {
        if (document.IsStopped)
            yield return "The load was stopped. What was measured until then is here.";
        foreach (var result in document.Results.Where(result => result.Outcome.Reasons.Count > 0))
            yield return $"{result.Cell} at {Figures.Measured(result.Rate)} msg/s: {result.Outcome}: {string.Join("; ", result.Outcome.Reasons)}.";
    }

    private static void WriteList(string heading, IEnumerable<string> lines, TextWriter output)
    {
        foreach (var (index, line) in lines.Index())
        {
            if (index == 0)
                output.WriteLine($"\n## {heading}\n");
            output.WriteLine($"- {MarkdownTables.Escaped(line)}");
        }
    }
}
