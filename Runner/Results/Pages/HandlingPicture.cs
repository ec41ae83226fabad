using System.Security;
using Kit.Runner.Results.Points;

namespace Kit.Runner.Results.Pages;

/// <summary>
/// The requests of one handling from top to bottom, in a lane for each server. Those that commit together are in boxes of one colour, with a thick line at
/// their commit. The strip on the right says what becomes of the message if the process is killed between two requests.
/// </summary>
/// <param name="name">Its title, and the subject of its words.</param>
/// <param name="points">All points of the handling.</param>
/// <param name="afterKill">The outcome of a kill after a number of requests, from none to all.</param>
/// <param name="strip">Position of the strip: what is to its left is the lanes'.</param>
internal sealed class HandlingPicture(string name, IReadOnlyList<CrashPoint> points, Func<int, KillOutcome> afterKill, int strip = 250)
{
    /// <summary>Width in pixels: on a telephone, too, its text is legible.</summary>
    public const int Width = 360;

    private const int Margin = 8;
    private const int Top = 72;
    private const int Step = 22;
    private const int StepWithoutLabel = 10;
    private const int Line = 15;
    private const double OfCharacter = 7;
    private const int MostLines = 4;
    private const int Colours = 4;

    private const string Prepare = "PREPARE TRANSACTION";
    private const string CommitPrepared = "COMMIT PREPARED";
    private const string Commit = "COMMIT";

    private const string Style =
        "<style>rect{stroke-width:1}.of0{fill:#ddf4ff;stroke:#0969da}.of1{fill:#fff1e5;stroke:#bc4c00}.of2{fill:#fbefff;stroke:#8250df}" +
        ".of3{fill:#e2f6f3;stroke:#12766f}path.commit{stroke-width:4}.now{font-weight:bold}circle{fill:#59636e}" +
        "@media(prefers-color-scheme:dark){.of0{fill:#11233b;stroke:#4493f8}.of1{fill:#32200f;stroke:#db6d28}.of2{fill:#271a3d;stroke:#ab7df8}" +
        ".of3{fill:#0d2b2a;stroke:#2fb5a8}circle{fill:#9198a1}}</style>";

    /// <summary>Statements of the endpoint and the handler. The others are dots without a label.</summary>
    private static readonly IReadOnlyList<(string Begins, string Label, bool IsWork)> Labels =
    [
        ("DELETE FROM \"widgets\" ", "receive", true),
        ("INSERT INTO widget ", "row", true),
        ("INSERT INTO \"widgets-sink\" ", "send", true),
        ("INSERT INTO \"widgets_inbox\" ", "inbox", true),
        ("INSERT INTO \"widgets_outbox\" ", "outbox", true),
        ("DELETE FROM \"widgets_outbox\" ", "clear outbox", true),
        (Prepare, "prepare", false),
        (Commit, "commit", false),
    ];

    private static readonly Dictionary<string, string> Lanes = new() { ["data"] = "rows", ["database"] = "queue and rows" };

    private readonly IReadOnlyList<string> servers = [.. points.Select(point => point.Request.Server).Distinct()];

    private readonly IReadOnlyList<IReadOnlyList<CrashPoint>> units =
        [.. points.GroupBy(point => DeciderOf(point, points)).OrderBy(unit => unit.Key.Number).Select(unit => unit.ToList())];

    private readonly IReadOnlyList<Window> windows = WindowsOf([.. Enumerable.Range(0, points.Count + 1).Select(afterKill)]);

    /// <summary>The picture in words, for readers who cannot see it.</summary>
    public string Words =>
        $"{name} commits {string.Join(", then ", units.Select(unit => Listed(WorkOf(unit))))}. Killed " +
        (windows is [var only] ? $"anywhere: {only.Outcome.Text}."
            : string.Join("; ", windows.Where(window => window.Outcome != KillOutcome.Once).Select(window =>
                $"from {Edge(window.From - 1, "the start")} to {Edge(window.To, "the end")}: {window.Outcome.Text}")) +
            (windows.Any(window => window.Outcome == KillOutcome.Once) ? $"; otherwise {KillOutcome.Once.Text}." : "."));

    public string Svg
    {
        get
        {
            var bottoms = Bottoms();
            var height = bottoms[^1] + Margin;
            return string.Join('\n', Results.Svg.Picture(
                Width,
                height,
                [$"<title>{SecurityElement.Escape(Words)}</title>"],
                [
                    Style,
                    Text(Margin, 24, "title", name),
                    Text(Margin, 43, "dim", string.Join(" → ", units.Select(unit => string.Join(" + ", WorkOf(unit))))),
                    .. servers.Select((server, at) => Text(LaneAt(at), Top - 9, "dim", LaneOf(server))),
                    Text(strip, Top - 9, "dim", "killed here:"),
                    .. units.SelectMany((unit, at) => BoxesOf(unit, at % Colours, bottoms)),
                    .. points.SelectMany((point, at) => MarksOf(point, bottoms[at + 1])),
                    .. windows.SelectMany(window => MarksOf(window, bottoms)),
                ])) + "\n";
        }
    }

    private int LaneWidth => ((strip - Margin) / servers.Count) - 6;

    private int LaneAt(int lane) => Margin + (lane * (LaneWidth + 6));

    private static string LaneOf(string server) => Lanes.GetValueOrDefault(server, server);

    private string Edge(int at, string beyond) => points.ElementAtOrDefault(at) is not { } point ? beyond
        : (LabelOf(point) ?? point.Request.Text) + (Is(point, Commit) ? $" ({LaneOf(point.Request.Server)})" : "");

    private static string Listed(List<string> work) =>
        work.Count < 2 ? string.Concat(work) : $"{string.Join(", ", work.SkipLast(1))} and {work[^1]} together";

    private string? LabelOf(CrashPoint point) => Labels.Where(one => Is(point, one.Begins)).Select(one =>
        one.IsWork && points.Count(other => other.Request.Text == point.Request.Text) > 1 ? $"{one.Label} {point.Request.Sent}" : one.Label).FirstOrDefault();

    private static bool Is(CrashPoint point, string begins) => point.Request.Text.StartsWith(begins, StringComparison.Ordinal);

    /// <summary>The last request of the transaction with which a request commits. A prepared branch commits with the next commit.</summary>
    private static CrashPoint DeciderOf(CrashPoint point, IReadOnlyList<CrashPoint> points)
    {
        var prepared = points.FirstOrDefault(other => Is(other, Prepare) && other.Request.Server == point.Request.Server
            && (Is(point, CommitPrepared) || First(other) == First(point)));
        var first = First(prepared is null ? point : points.First(other => other.Number > prepared.Number && Is(other, Commit)));
        return points.Last(other => First(other) == first);

        static int First(CrashPoint one) => one.Leading is [var first, ..] ? first : one.Number;
    }

    private List<string> WorkOf(IEnumerable<CrashPoint> unit) =>
    [
        .. unit.SelectMany(point => Labels.Where(one => one.IsWork && Is(point, one.Begins)).Select(one => (Kind: one.Label, Label: LabelOf(point)!)))
            .GroupBy(one => one.Kind).Select(same => same.Skip(1).Any() ? $"{same.Key}s" : same.First().Label),
    ];

    private static List<Window> WindowsOf(IReadOnlyList<KillOutcome> outcomes)
    {
        var found = new List<Window>();
        foreach (var (gap, outcome) in outcomes.Index())
        {
            if (found is [.., var last] && last.Outcome == outcome)
                found[^1] = last with { To = gap };
            else
                found.Add(new Window(gap, gap, outcome));
        }

        return found;
    }

    /// <summary>The lower edge of each request's row, after the upper edge of the first; the last is of what follows the handling.</summary>
    private List<int> Bottoms()
    {
        var heights = points.Select(point => LabelOf(point) is null ? StepWithoutLabel : Step).Append(Step).ToList();
        foreach (var window in windows)
        {
            var needed = 6 + (LinesOf(window).Count * Line);
            heights[window.To] += Math.Max(0, needed - heights.Skip(window.From).Take(window.To - window.From + 1).Sum());
        }

        return [.. heights.Aggregate(new List<int> { Top }, (edges, height) => [.. edges, edges[^1] + height])];
    }

    private List<string> LinesOf(Window window) =>
        Results.Svg.Wrapped(window.Outcome.Text, Width - Margin - strip - 16, OfCharacter, MostLines);

    private IEnumerable<string> BoxesOf(IReadOnlyList<CrashPoint> unit, int colour, List<int> bottoms)
    {
        var lanes = unit.GroupBy(point => servers.Index().First(server => server.Item == point.Request.Server).Index).OrderBy(lane => lane.Key).ToList();
        foreach (var lane in lanes)
        {
            var (top, bottom) = (bottoms[lane.First().Number - 1] + 2, bottoms[lane.Last().Number]);
            yield return $"""<rect class="of{colour}" x="{LaneAt(lane.Key)}" y="{top}" width="{LaneWidth}" height="{bottom - top}" rx="3"/>""";
        }

        var commit = bottoms[DeciderOf(unit[0], points).Number];
        yield return $"""<path class="commit of{colour}" d="M{LaneAt(lanes[0].Key)} {commit}H{LaneAt(lanes[^1].Key) + LaneWidth}"/>""";
    }

    private IEnumerable<string> MarksOf(CrashPoint point, int bottom)
    {
        var x = LaneAt(servers.Index().First(server => server.Item == point.Request.Server).Index);
        var label = LabelOf(point);
        yield return $"""<circle cx="{x + 9}" cy="{bottom - (label is null ? 4 : 11)}" r="{(label is null ? "1.5" : "3")}"/>""";
        if (label is not null)
            yield return Text(x + 18, bottom - 7, Is(point, Commit) ? "now" : "", label);
    }

    private IEnumerable<string> MarksOf(Window window, List<int> bottoms)
    {
        var (top, bottom) = (bottoms[window.From], bottoms[window.To + 1]);
        var (rect, text) = window.Outcome.IsOnce ? ("right", "dim") : ("wrong", "bad");
        yield return $"""<rect class="{rect}" x="{strip}" y="{top}" width="8" height="{bottom - top}"/>""";
        var lines = LinesOf(window);
        foreach (var (at, line) in lines.Index())
            yield return Text(strip + 16, ((top + bottom - (lines.Count * Line)) / 2) + 11 + (at * Line), text, line);
    }

    private static string Text(int x, int y, string style, string text) =>
        $"""<text class="{style}" x="{x}" y="{y}"{(style == "title" ? "" : " font-size=\"12\"")}>{SecurityElement.Escape(text)}</text>""";

    /// <summary>Gaps between requests with one outcome.</summary>
    /// <param name="From">The number of requests before the first gap.</param>
    /// <param name="To">The number of requests before the last gap.</param>
    private sealed record Window(int From, int To, KillOutcome Outcome);
}

/// <summary>The outcome of a kill for the message.</summary>
/// <param name="Text">In a few words.</param>
/// <param name="IsOnce">True if it was handled exactly once in the end.</param>
internal sealed record KillOutcome(string Text, bool IsOnce)
{
    public static KillOutcome Once { get; } = new("once", IsOnce: true);
}
