using Kit.Guarantees;

namespace Kit.Runner.Results.Loads;

/// <summary>The tables of a live load.</summary>
public static class LoadReport
{
    private const string Legend =
        "Latency runs from the moment at which a message was to be sent until its effect was there: until its row was committed, by the database's commit " +
        "timestamp, which PostgreSQL takes just before it flushes that commit. Where a handler inserts no row, the notes say what ends it. " +
        "Reached: messages a second whose effect was there while messages were sent. Failed: messages without a known effect, and messages whose effect came " +
        "later than a user waits for it. Dead-lettered: in the error queue, without an effect. Lost: nowhere, without an effect. " +
        "Timed out: with an effect, too late. " +
        "Backlog: messages whose moment had come and whose effect was not there, the median over a quarter of the load. " +
        "Sender: how late a send began; it is part of the latency. Told: how long after the effect a user who waited for it was told; " +
        "their next message is that much later, and no latency contains it. CPU: the busy share of all processors, for everything that ran on the machine.";

    private static readonly IReadOnlyList<Column<LoadResult>> Columns =
    [
        new("Cell", result => $"{result.Cell}", IsFigure: false),
        new("Load", result => result.Asked, IsFigure: false),
        new("Reached msg/s", result => Figures.Measured(result.Reached)),
        new("Sent", result => Figures.Count(result.Sent)),
        new("Failed", ShareOf),
        new("Dead-lettered", result => CountOf(result.DeadLettered)),
        new("Lost", result => CountOf(result.Lost)),
        new("Timed out", result => CountOf(result.TimedOut)),
        new("p50 ms", result => Ended(result, result.Latency?.P50)),
        new("p95 ms", result => Ended(result, result.Latency?.P95)),
        new("p99 ms", result => Ended(result, result.Latency?.P99)),
        new("p99.9 ms", result => Ended(result, result.Latency?.P999)),
        new("Max ms", result => Ended(result, result.Latency?.Max)),
        new("Backlog 2nd quarter", result => Figures.Measured(result.Backlog?.SecondQuarter)),
        new("Backlog last quarter", result => Figures.Measured(result.Backlog?.LastQuarter)),
        new("Sender p50 ms", result => Figures.Measured(result.SenderLag?.P50)),
        new("Sender p99 ms", result => Figures.Measured(result.SenderLag?.P99)),
        new("Told p50 ms", result => Figures.Measured(result.UserLag?.P50)),
        new("CPU", result => result.CpuShare is { } share ? Figures.Share(share) : Figures.None),
    ];

    private static readonly IReadOnlyList<Column<SoakFigure>> SoakColumns =
    [
        new("Figure", figure => figure.Title, IsFigure: false),
        new("First", figure => Figures.Measured(figure.First)),
        new("Highest", figure => Figures.Measured(figure.Highest)),
        new("Last", figure => Figures.Measured(figure.Last)),
        new("Change per hour", figure => Figures.Measured(figure.Trend?.PerHour)),
        new("95 % interval", figure => figure.Trend is { } trend ? $"{Figures.Measured(trend.Low)} to {Figures.Measured(trend.High)}" : Figures.None,
            IsFigure: false),
        new("Verdict", figure => figure.Trend is { } trend ? Words.Of(trend.Verdict).Replace('-', ' ') : Figures.None, IsFigure: false),
    ];

    private static readonly IReadOnlyList<Column<LoadPart>> PartColumns =
    [
        new("Part", part => part.Title, IsFigure: false),
        new("From s", part => Figures.Measured(part.From)),
        new("To s", part => Figures.Measured(part.To)),
        new("Reached msg/s", part => Figures.Measured(part.Reached)),
        new("p50 ms", part => Figures.Measured(part.Latency?.P50)),
        new("p99 ms", part => Figures.Measured(part.Latency?.P99)),
        new("Dead rows at its end", part => part.DeadRows is { } rows ? Figures.Count(rows) : Figures.None),
    ];

    private static readonly string SoakLegend =
        "Change per hour: the slope through the load without its first fifth. Level: its 95 % interval is within " +
        $"{Figures.Share(Trend.Margin)} of the mean per hour. Grows, falls: the whole interval is on one side of zero. " +
        $"A load of less than {Figures.Measured(Trend.Shortest.TotalMinutes)} min has no verdict.";

    private static readonly string TooFew =
        $"{Figures.None} in place of a quantile: there are too few messages for it, or messages without an effect, which are slower than any other. " +
        $"p95 needs {Figures.Count(Quantile.NeededFor(0.95))}, p99 {Figures.Count(Quantile.NeededFor(0.99))} and " +
        $"p99.9 {Figures.Count(Quantile.NeededFor(0.999))}.";

    /// <summary>A line of Markdown that shows a picture of <see cref="SvgOverTime"/>.</summary>
    private static string PictureLine(string link) => $"![{SvgOverTime.Name}]({link})";

    /// <param name="picture">The file with the figures over time, in the same folder; <see langword="null"/> if there is none.</param>
    public static void WriteMarkdown(LoadDocument document, string? picture, TextWriter output)
    {
        output.WriteLine($"# Load of {Figures.Moment(document.StartedUtc)}\n");
        foreach (var fact in FactsOf(document))
            output.WriteLine($"- {Table.Escaped(fact)}");
        output.WriteLine();
        TableOf(document).WriteLines(output);
        output.WriteLine($"\n{Legend}");
        if (picture is not null)
            output.WriteLine($"\n## Over time\n\n{PictureLine(picture)}");
        foreach (var table in document.Results.SelectMany(FollowedIn))
            table.WriteMarkdown(output);

        MarkdownTables.WriteList("Sustained rates", SustainedIn(document), output);
        MarkdownTables.WriteList("Notes", NotesOn(document), output);
        MarkdownTables.WriteList("Left out", CellLeftOut.LinesOf(document.LeftOut), output);
    }

    public static void WriteTerminal(LoadDocument document, TextWriter output, int width)
    {
        var console = TerminalSummary.ConsoleOn(output, width);
        foreach (var table in document.Results.SelectMany(FollowedIn).Prepend(TableOf(document)))
            table.WriteTerminal(console);

        foreach (var line in SustainedIn(document).Concat(NotesOn(document)))
            output.WriteLine(line);
        output.WriteLine(Legend);
        if (document.Results.Any(result => result.Soak is not null))
            output.WriteLine(SoakLegend);
        foreach (var left in CellLeftOut.LinesOf(document.LeftOut))
            output.WriteLine($"Left out: {left}");
    }

    /// <summary>The figures that were followed through a load that has some.</summary>
    private static Table SoakOf(LoadResult result) => Table.Of(SoakColumns, result.Soak!) with
    {
        Title = $"{result.Cell} at {result.Asked}: through the load",
        Legend = SoakLegend,
    };

    /// <summary>A load before, while and after a snapshot was held.</summary>
    private static Table PartsOf(LoadResult result) => Table.Of(PartColumns, result.Parts!) with
    {
        Title = $"{result.Cell} at {result.Asked}: a held snapshot",
        Legend = "Dead rows: in all tables of the round's databases, as PostgreSQL counts them.",
    };

    public static void WriteCsv(LoadDocument document, TextWriter output) => CellsCsv.Write<LoadResult>(
        document.Results.Select(result => result.Cell), document.Implied,
        [
            ("rate_per_second", result => result.Rate), ("users", result => result.Users), ("share_of_found", result => result.ShareOfFound),
            ("outcome", result => result.Outcome), ("reasons", result => string.Join("; ", result.Outcome.Reasons)),
            ("verdict", result => VerdictOf(result, document.Settings.LimitMilliseconds)), ("seconds", result => result.Seconds),
            ("sent", result => result.Sent), ("failed", result => result.IsAccountedFor ? result.Failed : null), ("timed_out", result => result.TimedOut),
            ("reached_per_second", result => result.Reached), ("p50_ms", result => result.Latency?.P50), ("p95_ms", result => result.Latency?.P95),
            ("p99_ms", result => result.Latency?.P99), ("p999_ms", result => result.Latency?.P999), ("max_ms", result => result.Latency?.Max),
            ("backlog_second_quarter", result => result.Backlog?.SecondQuarter), ("backlog_last_quarter", result => result.Backlog?.LastQuarter),
            ("sender_p50_ms", result => result.SenderLag?.P50), ("sender_p99_ms", result => result.SenderLag?.P99),
            ("sender_max_ms", result => result.SenderLag?.Max), ("told_p50_ms", result => result.UserLag?.P50), ("told_p99_ms", result => result.UserLag?.P99),
            ("cpu_share", result => result.CpuShare), ("other_cpu_share", result => result.OtherCpuShare),
            .. CellsCsv.ClassesOf<LoadResult>(result => result.Accounts),
        ],
        document.Results.Select(result => (result.Cell, result)), output);

    /// <summary>The rule by which a rate is sustained.</summary>
    /// <param name="limitMilliseconds">In a search, the highest p99 of the latency; <see langword="null"/>: one rate.</param>
    public static string RuleOf(double? limitMilliseconds) =>
        $"Sustained: 99 % of the sends begin within {Figures.Measured(LoadResult.LateSender)} ms of their moment; at the end, and in the median of the last " +
        $"quarter, at most {Figures.Share(Backlog.Most)} of the load's messages, or {Figures.Count(Backlog.MostOfAll, "message")}, wait for their effect, " +
        "without those that are under way at the median latency of the first quarter; " +
        (limitMilliseconds is { } limit
            ? $"no message is lost or doubled, and fewer than {Figures.Share(LoadResult.FailedLimit)} failed; p99 is at most {Figures.Measured(limit)} ms"
            : "every message is handled exactly once");

    /// <summary>The share that failed, with its parts if any did.</summary>
    public static string FailedIn(LoadResult result)
    {
        IReadOnlyList<string> parts =
        [
            .. from one in new[] { (result.DeadLettered, "dead-lettered"), (result.Lost, "lost"), (result.TimedOut, "timed out") }
               where one.Item1 is not null
               select $"{Figures.Count(one.Item1!.Value)} {one.Item2}",
            .. result.Unsent > 0 ? [$"{Figures.Count(result.Unsent)} unsent"] : Array.Empty<string>(),
        ];
        return result.FailedShare is not { } share
            ? "not known what became of them"
            : $"{Figures.Share(share)} failed{(result.Failed > 0 && parts.Count > 0 ? $" ({string.Join(", ", parts)})" : "")}";
    }

    /// <summary>The share that failed.</summary>
    public static string ShareOf(LoadResult? result) => result?.FailedShare is { } share ? Figures.Share(share) : Figures.None;

    /// <summary>A latency, with the error of the clock by which it ended.</summary>
    private static string Ended(LoadResult result, double? milliseconds) =>
        Figures.Measured(milliseconds) +
        (result.ServerClock is { } clock && milliseconds is not null ? $" ± {Figures.Measured(clock.ErrorMilliseconds)}" : "");

    private static string CountOf(int? messages) => messages is { } known ? Figures.Count(known) : Figures.None;

    private static IEnumerable<string> FactsOf(LoadDocument document)
    {
        var settings = document.Settings;
        yield return $"Command: {document.CommandLine}";
        if (document.Service is { Given: { } given })
            yield return $"Program instead of the file's: {given}";
        if (document.Service is null)
            yield return $"Commit: {document.Commit?.ToString() ?? "unknown"}";
        yield return $"Machine: {document.Host.CpuModel}, {document.Host.Cores} cores, {document.Host.OperatingSystem}, {document.Host.Runtime}";
        yield return $"{(document.Named is null ? "The kit's own servers" : "Servers")}: {RunFacts.Listed(RunFacts.Placed(document.Servers, document.Named))}";
        if (document.Disk is { } disk)
            yield return $"Disk: {disk.Text}";
        if (document.Service is null)
            yield return $"Packages: {RunFacts.Listed(document.Packages)}";
        yield return $"Settings: {Figures.Measured(settings.Seconds)} s of sending, " +
                     (settings is { Concurrency: { } handlers, SeedRows: { } rows }
                         ? $"concurrency {Figures.Plain(handlers)}, {Figures.Count(rows)} rows seeded, " : "") +
                     $"{Figures.Count(settings.WarmUp)} warm-up messages, " +
                     $"{settings.Senders} senders on the same machine";
        if (settings.RoundTrip is { } added)
            yield return $"Distance: the kit's proxy adds {added} to each round trip between the service and its servers";
        if (settings is { ThinkMilliseconds: { } think, RampSeconds: { } ramp })
        {
            yield return $"Users: each sends, waits for the effect, and pauses for {Figures.Measured(think)} ms; they begin within " +
                         $"{Figures.Measured(ramp)} s, which rates and latencies leave out";
        }

        if (settings.TimeoutSeconds is { } longest)
        {
            yield return document.Service is null
                ? $"Timeout: a user waits {Figures.Measured(longest)} s, goes on, and the message has failed"
                : $"Timeout: a message without its effects after {Figures.Measured(longest)} s has failed";
        }

        if (document.Results.Any(result => result.Rate is not null))
            yield return RuleOf(settings.LimitMilliseconds);

        if (settings is { SnapshotFromSeconds: { } from, SnapshotToSeconds: { } to })
            yield return $"Held snapshot: from {Figures.Measured(from)} s to {Figures.Measured(to)} s of each load";
    }

    private static IEnumerable<Table> FollowedIn(LoadResult result) =>
        [.. result.Parts is null ? [] : (Table[])[PartsOf(result)], .. result.Soak is null ? [] : (Table[])[SoakOf(result)]];

    private static Table TableOf(LoadDocument document) => Table.Of<LoadResult>(
        [.. Columns, new("Verdict", result => VerdictOf(result, document.Settings.LimitMilliseconds), IsFigure: false)],
        document.Results) with
    { Title = $"Load{ReportText.DistanceOf(document.Settings.RoundTrip)}" };

    /// <summary>The verdict on a rate, sustained or not, or on a load of users, valid or not, with the reasons.</summary>
    public static string VerdictOf(LoadResult result, double? limitMilliseconds) =>
        result.ReasonsAgainst(limitMilliseconds) is { Count: > 0 } reasons ? string.Join(", ", reasons) : result.Rate is null ? "valid" : "sustained";

    private static List<string> SustainedIn(LoadDocument document) =>
    [
        .. from found in FoundRate.In(document)
           let best = found.Best
           select best is null
               ? $"{found.Cell}: no rate that was tried was sustained." +
                 (found.WhyMaybeHigher is { Count: > 0 } nothings
                     ? $" At each {string.Join(", or ", nothings)}, so it is not known what the endpoint sustains."
                     : "")
               : $"{found.Cell}: {Figures.Measured(best.Rate)} messages a second were sustained with p99 {Figures.Measured(best.Latency?.P99)} ms" +
                 $"{(best.Failed > 0 ? $" and {FailedIn(best)}" : "")}" +
                 (found.Next is not { } next ? ". No higher rate was tried."
                     : found.WhyMaybeHigher is [var nothing] ? $"; at {Figures.Measured(next.Rate)} {nothing}, so the endpoint may sustain more."
                     : $"; {Figures.Measured(next.Rate)} were not: {string.Join(", ", next.ReasonsAgainst(document.Settings.LimitMilliseconds))}.") +
                 string.Concat(found.Below.Select(below =>
                     $" At {Figures.Share(below.ShareOfFound!.Value)} of {Figures.Measured(below.FoundThen)}, {Figures.Measured(below.Rate)} a second, " +
                     "the latency was " +
                     $"p50 {Figures.Measured(below.Latency?.P50)} ms and p99 {Figures.Measured(below.Latency?.P99)} ms" +
                     $"{(below.ReasonsAgainst(document.Settings.LimitMilliseconds) is { Count: > 0 } reasons ? $" ({string.Join(", ", reasons)})" : "")}.")),
    ];

    /// <summary>The noisy loads in a sentence; <see langword="null"/>: none.</summary>
    public static string? NoiseIn(IReadOnlyList<LoadResult> results) =>
        results.Where(result => result.IsNoisy).ToList() is { Count: > 0 } noisy && noisy.MaxBy(result => result.OtherCpuShare) is { } worst
            ? $"Noisy: other programs took more than {Figures.Share(Noise.DefaultLimit)} of the processors, up to " +
              $"{Figures.Share(worst.OtherCpuShare!.Value)}{(worst.BusiestOther is { } busiest ? $" ({busiest})" : "")}, so these figures say " +
              $"little about a quiet machine: {string.Join(", ", noisy.Select(result => $"{result.Cell} at {result.Asked}"))}."
            : null;

    private static IEnumerable<string> NotesOn(LoadDocument document)
    {
        if (document.IsStopped)
            yield return "INCOMPLETE: the load is running, was stopped, or its process died. What was measured is here.";
        if (ReportText.WarningOf(document.Disk) is { } warning)
            yield return warning;
        if (NoiseIn(document.Results) is { } noise)
            yield return noise;
        foreach (var result in document.Results.Where(result => result.Outcome.Reasons.Count > 0))
            yield return $"{result.Cell} at {result.Asked}: {result.Outcome}: {string.Join("; ", result.Outcome.Reasons).TrimEnd('.')}.";
        foreach (var result in document.Results.Where(result => result.Refusals > 0))
        {
            yield return $"{result.Cell} at {result.Asked}: {Figures.Count(result.Refusals)} tries to send were refused (the last: " +
                         $"{result.LastRefusal?.TrimEnd('.')}). The kit made them again, in addition to the load; whoever does not loses the message.";
        }

        foreach (var clock in document.Results.Select(result => result.Clock).Distinct().Where(clock => clock is not EffectClock.RowCommit))
        {
            var cells = document.Results.Where(one => one.Clock == clock).Select(one => $"{one.Cell}").Distinct();
            yield return $"Clock: the latency of {string.Join(", ", cells)} ends {TextOf(clock)}.";
        }

        if (document.Standbys is { } standbys)
        {
            yield return $"Standbys: PostgreSQL stamps a commit before that waits for one (synchronous_standby_names is {standbys}), so the latencies of " +
                         "rows are without that wait.";
        }

        foreach (var result in document.Results.Where(result => result.ServerClock is not null))
        {
            yield return $"{result.Cell} at {result.Asked}: messages were due by this machine's clock, and rows committed by that of the database server, " +
                         $"which was {result.ServerClock} of it, as asked before and after: the lead is taken off, and its error is behind ±.";
        }

        if (document.Results.Where(result => result.IsTimedOutUnknown).Select(result => result.Asked).Distinct().ToList() is { Count: > 0 } users)
        {
            yield return $"Timed out: the build of this load did not count the messages of users who gave up ({string.Join(", ", users)}), " +
                         "so they are missing in Failed.";
        }

        if (document.Results.Any(result => result.Latency is { P999: null } || result.SenderLag is { P99: null }))
            yield return TooFew;
    }

    private static string TextOf(EffectClock clock) => clock switch
    {
        EffectClock.RowCommit => "with the commit of the handler's row",
        EffectClock.SendCommit => "with the commit of what the handler sent, by the database's commit timestamp",
        EffectClock.LastEffect => "with its last effect: a row's commit, by the database's log, a sent message's receipt or a call's arrival",
        EffectClock.SendReceipt => "when a consumer of the runner received what the handler sent, by this machine's clock",
        _ => throw new InvalidOperationException($"No text for {clock}."),
    };
}
