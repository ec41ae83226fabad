using Kit.Runner.Results.Points;

namespace Kit.Runner.Results.Proofs;

/// <summary>The findings of a proof, for people.</summary>
public sealed class ProofReport(ProofDocument document)
{
    private static readonly IReadOnlyList<PointWayFacts> Ways = [.. PointWays.OfClient.Select(way => way.Facts())];

    /// <summary>Number of experiments that show nothing from which they are no accident.</summary>
    private const int ManyVoid = 3;

    private readonly IReadOnlyList<ProofResult> results = [.. document.Results.OrderBy(result => result.Point.Number).ThenBy(result => result.Point.Way)];

    private IReadOnlyList<ProofResult> Killed => [.. results.Where(IsKilled)];

    private IReadOnlyList<ProofResult> AfterLease => [.. results.Where(result => result.IsAfterLease)];

    private IEnumerable<ProofResult> Broken => results.Where(result => result.Verdict is FaultVerdict.Broken);

    /// <summary>The dead letters that no experiment has found a place of.</summary>
    private IReadOnlyList<string> Absent
    {
        get
        {
            List<ProofResult> shown = [.. results.Where(result => result.IsConclusive)];
            return [.. shown.SelectMany(result => result.Absent).Distinct().Where(name => shown.TrueForAll(result => result.Absent.Contains(name)))];
        }
    }

    /// <summary>The finding about the promise.</summary>
    private string Finding
    {
        get
        {
            var met = results.Count(result => result.HasMetPoint);
            var broken = Broken.Count(result => result.HasMetPoint);
            List<string> others =
            [
                .. from other in new[]
                   {
                       (How: "without any crash", Times: Broken.Count(result => result.IsWithoutFault)),
                       (How: "after a crash at another moment", Times: Broken.Count(result => result.Point.IsElsewhere)),
                   }
                   where other.Times > 0
                   select $"{other.How} {Figures.Count(other.Times, "time")}",
            ];
            var promise = $"its promise ({NamedPromises.TextOf(document.Promised)})";
            var crashes = Figures.Count(met, "crash that was met", "crashes that were met");
            if (broken > 0)
                return $"{document.Name} breaks {promise} {string.Join(", and ", others.Prepend($"at {Figures.Count(broken)} of {crashes}"))}";
            if (others.Count > 0)
                return $"{document.Name} breaks {promise} {string.Join(", and ", others)}";
            if (met == 0)
                return $"{document.Name}: nothing is shown about {promise}, because no crash was met";
            if (document.Untried.Count > 0)
                return $"{document.Name} is not proved: it kept {promise} at {crashes}, and none could be tried at what writes an effect";
            if (document.NotTried.Count > 0)
                return $"{document.Name} kept {promise} where it was tried, at {crashes}";
            return $"{document.Name} kept {promise} at {(met == 1 ? "the only crash that was met" : $"all {crashes}")}";
        }
    }

    /// <summary>The result in one sentence.</summary>
    public string Summary =>
        Finding
        + $": {Figures.Count(document.Points.Count, "point")} of its handling, {Figures.Count(document.Planned, "experiment")}"
        + (results.Count > 0 ? $", {ClassesOf(results)}" : "")
        + (Killed.Count is > 0 and var killed
            ? $"; at {Figures.Count(killed)} of way {PointWay.Unanswered.Facts().Letter} it did not get over the missing answer and was killed"
            : "")
        + (AfterLease.Count is > 0 and var leased ? $"; at {Figures.Count(leased)} the work was done only after its lease" : "")
        + (document.NotTried.Count > 0 ? $"; {Figures.Count(document.NotTried.Count)} not tried ({document.NotTriedBecause})" : "")
        + (document.Rare.Union(document.Late).Count() is > 0 and var others
            ? $"; {Figures.Count(others, "other request")} not tried, see the report"
            : "")
        + (document.Unused > 0
            ? $"; {Figures.Count(document.Unused, "recorded message")} came in the open transaction of a poll, where no crash is tried"
            : "")
        + (Absent.Count > 0 ? $"; the place of dead letter {string.Join(" and ", Absent.Select(name => $"'{name}'"))} was never there: check its name" : "")
        + ".";

    public void WriteMarkdown(TextWriter output)
    {
        output.WriteLine($"# Does {document.Name} survive every crash?\n");
        output.WriteLine($"{Summary}\n");
        var servers = string.Join(", ", document.Servers.Select(server => $"{server.Key} {server.Value}"));
        output.WriteLine($"{Figures.Moment(document.StartedUtc)}, on the kit's own servers ({servers}).");
        WriteClasses(output);
        if (HandlingDrawing.Of(document) is { } drawing)
        {
            output.WriteLine("\n## One handling\n");
            output.WriteLine($"![{Table.Escaped(drawing.Words)}]({HandlingDrawing.File})\n");
            output.WriteLine(HandlingDrawing.Legend);
        }

        WriteViolations(output);
        if (document.Untried.Count > 0)
        {
            MarkdownTables.WriteList(
                "Not proved: these write an effect, and handlings differ in them, or an idle process makes them, too", document.Untried, output);
            output.WriteLine(
                "\nMake the messages of the proof alike, and let your service use the same names and the same number of rows for each. What it does without " +
                "a message, it must do with other statements, or to other destinations.");
        }

        var shownNothing = results.Where(result => !result.IsConclusive).ToList();
        MarkdownTables.WriteList("Shown nothing", shownNothing.Select(result =>
            $"{result.Point.Token} {KindOf(result)}: {result.Point.Moment}: {result.Because}"), output);
        if (shownNothing.Count >= ManyVoid)
        {
            output.WriteLine();
            output.WriteLine(
                "So many show nothing if one handling differs from the next: in its requests, in their order, or in their answers. Make the messages of the " +
                "proof alike, and let each of them find the same rows.");
        }

        MarkdownTables.WriteList(
            "Tried again",
            results.Where(result => result.Discarded.Count > 0).Select(result => $"{result.Point.Token}, because {string.Join("; then ", result.Discarded)}"),
            output);
        MarkdownTables.WriteList("Not tried", document.NotTried, output);
        MarkdownTables.WriteList(
            "Killed, because it still waited for the answer",
            Killed.Select(result => $"{result.Point.Token}: after {result.KilledAfterSeconds:F0} s. What it would have done later is not shown"),
            output);
        var lease = document.Lease is { } length ? $" ({length})" : "";
        MarkdownTables.WriteList(
            "Handled again after its lease",
            AfterLease.Select(result =>
                $"{result.Point.Token} {KindOf(result)}: {result.Point.Moment}. Until the lease ends{lease} nobody does this work; here it was made old"),
            output);
        WritePoints(output);
        MarkdownTables.WriteList("Not tried, because the recorded handlings differ in them", document.Rare, output);
        MarkdownTables.WriteList("Not tried, because they came only after a message was handled", document.Late, output);
        MarkdownTables.WriteList("No points: an idle process makes them, too, or they are in a transaction that stays open", document.Polls, output);
        output.WriteLine("\n## What this cannot show\n");
        output.WriteLine("- Effects that the proof file does not read: rows of other tables, files, mails, calls that go past `{{calls}}`.");
        foreach (var name in Absent)
            output.WriteLine($"- Whether a message was given up into {Table.Escaped(name)}: its table or queue was never there. Check its name in the file.");
        foreach (var request in document.Unread)
            output.WriteLine($"- Whether {Table.Escaped(request)} is done twice or not at all: no effect reads its table.");
        if (document.Unused > 0)
        {
            output.WriteLine(
                $"- What is done with a message that comes in the open transaction of a poll: {Figures.Count(document.Unused)} of the recorded messages " +
                "did, and others were recorded instead. Roll back after a poll that finds nothing.");
        }

        output.WriteLine("- Crashes of a server, and moments within one: the servers are alive in each experiment.");
        output.WriteLine("- A crash right before or after a call: calls are counted, and are no points. Those are the requests around a call.");
        output.WriteLine("- The loss of the connection to the queue, or of a lease, while the handler works: only the connection of a point is cut.");
        output.WriteLine("- Two messages at a time, unless the application has several workers.");
        output.WriteLine("- Paths that an undisturbed handling does not take, such as retries after an error.");
    }

    private void WriteClasses(TextWriter output)
    {
        (Table.Of<IGrouping<string, ProofResult>>(
            [
                new("Message", alike => alike.Key, IsFigure: false),
                .. Ways.Select(way => new Column<IGrouping<string, ProofResult>>(
                    way.Header, alike => alike.Count(result => result.Point.Way == way.Way) is > 0 and var count ? Figures.Count(count) : Figures.None)),
            ],
            ByKind(results)) with
        {
            Title = "What became of the messages",
            Legend =
                "A message is *once* if each effect is there as often as the file expects, *duplicated* if one is there more often, " +
                "*duplicated-outgoing* if only messages or calls are, *torn* if some of its effects are there and others are not, *lost* if none is, and " +
                "*stuck* if none is and work is left. With a dead letter it is *clean-error* if no effect is there, and *zombie* if one is. ≠ is not " +
                "promised. *≠ afterwards*: a message after it broke the promise, or something was left. *Without a crash*: the message did not come to " +
                "the point, nothing disturbed it, and it is not *once*.",
        }).WriteMarkdown(output);
    }

    private void WriteViolations(TextWriter output)
    {
        if (!Broken.Any())
            return;

        output.WriteLine("\n## Broken promises\n");
        foreach (var result in Broken)
        {
            output.WriteLine($"- `{result.Point.Token}` {Table.Escaped(result.Point.Moment)}: "
                + $"{Table.Escaped(string.Join("; ", result.Violations))}"
                + (result.Repeated.Count > 0 ? $". Repeated: {Table.Escaped(string.Join("; ", result.Repeated))}" : ""));
        }

        foreach (var told in ToldViolation.Of(document))
            WriteTimeline(told, output);
    }

    private static void WriteTimeline(ToldViolation told, TextWriter output)
    {
        var token = told.Result.Point.Token;
        output.WriteLine($"\n## What happened at {token}\n");
        output.WriteLine($"![What happened at {token}: {told.Name}]({told.Picture})");
        output.WriteLine("\n```");
        foreach (var line in TimelineStep.LinesOf(told.Result.Timeline))
            output.WriteLine(line);
        output.WriteLine("```\n");
        output.WriteLine(told.Again);
    }

    private void WritePoints(TextWriter output)
    {
        (Table.Of<CrashPoint>(
            [
                new("Point", point => Figures.Plain(point.Number)),
                new("Request", point => point.Request.Text, IsFigure: false),
                new("Server", point => point.Request.Server, IsFigure: false),
                new("Answer", point => point.Request.Outcome ?? Figures.None, IsFigure: false),
                .. Ways.Select(way => new Column<CrashPoint>($"{way.Letter}", point => KindAt(point, way.Way), IsFigure: false)),
            ],
            document.Points) with
        { Title = "The points" }).WriteMarkdown(output);
    }

    private string KindAt(CrashPoint point, PointWay way) =>
        results.FirstOrDefault(result => result.Point.Number == point.Number && result.Point.Way == way) is { } result
            ? KindOf(result) + (IsKilled(result) ? ", killed" : "")
            : Figures.None;

    private static bool IsKilled(ProofResult result) => result.KilledAfterSeconds is not null;

    private IEnumerable<IGrouping<string, ProofResult>> ByKind(IEnumerable<ProofResult> chosen) =>
        chosen.GroupBy(KindOf).OrderByDescending(alike => alike.Count()).ThenBy(alike => alike.Key);

    private string ClassesOf(IEnumerable<ProofResult> chosen) =>
        string.Join(", ", ByKind(chosen).Select(alike => $"{Figures.Count(alike.Count())} {alike.Key}"));

    private string KindOf(ProofResult result) => result.KindAmong(document.Promised);
}
