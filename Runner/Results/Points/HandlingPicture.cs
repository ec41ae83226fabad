using System.Security;

namespace Kit.Runner.Results.Points;

/// <summary>
/// The requests of one handling from top to bottom, in a lane for each server, or more where its transactions overlap. Those that commit together are in
/// boxes of one colour, with a thick line at their commit. The strip on the right says what becomes of the message if the process is killed between two
/// requests.
/// </summary>
/// <param name="name">Its title, and the subject of its words.</param>
/// <param name="points">All points of the handling.</param>
/// <param name="afterKill">The outcome of a kill after a number of requests, from none to all.</param>
/// <param name="look">Its measures and labels.</param>
internal sealed class HandlingPicture(string name, IReadOnlyList<CrashPoint> points, Func<int, KillOutcome> afterKill, HandlingLook look)
{
    private const int Margin = 8;
    private const int Top = 72;
    private const int Step = 22;
    private const int StepWithoutLabel = 10;
    private const int Line = 15;
    private const double OfCharacter = 7;
    private const double OfCharacterInHeading = 6.4;
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

    private readonly IReadOnlyList<IReadOnlyList<CrashPoint>> units = UnitsOf(points);

    private readonly IReadOnlyList<Lane> lanes = Lane.Of(UnitsOf(points));

    private readonly IReadOnlyList<Window> windows = WindowsOf([.. Enumerable.Range(0, points.Count + 1).Select(afterKill)]);

    /// <summary>Width in pixels.</summary>
    public int Width => Strip + look.Outcomes;

    /// <summary>The picture in words, for readers who cannot see it.</summary>
    public string Words =>
        $"{name} commits {(Works.Any() ? string.Join(", then ", Works.Select(Listed)) : "nothing that is known")}. Killed " +
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
                    Text(Margin, 43, "dim", Heading),
                    .. lanes.Select((lane, at) => Text(LaneAt(at), Top - 9, "dim", Fitting(lane.NameIn(look), LaneWidth))),
                    Text(Strip, Top - 9, "dim", "killed here:"),
                    .. units.SelectMany((unit, at) => BoxesOf(unit, at % Colours, bottoms)),
                    .. points.SelectMany((point, at) => MarksOf(point, bottoms[at + 1])),
                    .. windows.SelectMany(window => MarksOf(window, bottoms)),
                ])) + "\n";
        }
    }

    private string Heading =>
        Fitting(string.Join(" → ", Works.Select(work => string.Join(" + ", work))), Width - (2 * Margin), OfCharacterInHeading);

    /// <summary>Position of the strip: what is to its left is the lanes'.</summary>
    private int Strip => look.Strip ?? (Margin + (lanes.Count * (HandlingLook.WideLane + 6)));

    private int LaneWidth => ((Strip - Margin) / lanes.Count) - 6;

    private int LaneAt(int lane) => Margin + (lane * (LaneWidth + 6));

    private int LaneAt(CrashPoint point) => LaneAt(lanes.Index().First(lane => lane.Item.Points.Contains(point)).Index);

    /// <summary>The work of each transaction that commits any.</summary>
    private IEnumerable<List<string>> Works => units.Where(Commits).Select(WorkOf).Where(work => work.Count > 0);

    private string Edge(int at, string beyond) => points.ElementAtOrDefault(at) is not { } point ? beyond
        : look.HasNumbers ? NumberedLabelOf(point)
        : (LabelOf(point) ?? point.Request.Text) + (Is(point, Commit) ? $" ({look.LaneOf(point.Request.Server)})" : "");

    private static string Listed(List<string> work) =>
        work.Count < 2 ? string.Concat(work) : $"{string.Join(", ", work.SkipLast(1))} and {work[^1]} together";

    private string? LabelOf(CrashPoint point) => look.LabelOf(point) is not { } label ? null
        : label.IsWork && points.Count(other => other.Request.Text == point.Request.Text) > 1 ? $"{label.Text} {point.Request.Sent}"
        : label.Text;

    private string NumberedLabelOf(CrashPoint point) => $"{Figures.Plain(point.Number)} {LabelOf(point)}";

    private static bool Is(CrashPoint point, string begins) => point.Request.Text.StartsWith(begins, StringComparison.OrdinalIgnoreCase);

    /// <summary>False for what is rolled back, for a branch that nothing of the handling commits, and for a request alone that is no work.</summary>
    private bool Commits(IReadOnlyList<CrashPoint> unit) => DeciderOf(unit[0], points) is var decider
        && decider.Request.Outcome is not "ROLLBACK" && !Is(decider, Prepare) && (unit.Count > 1 || look.LabelOf(decider) is not { IsWork: false });

    /// <summary>The transactions, in the order of their commits.</summary>
    private static List<List<CrashPoint>> UnitsOf(IReadOnlyList<CrashPoint> points) =>
        [.. points.GroupBy(point => DeciderOf(point, points)).OrderBy(unit => unit.Key.Number).Select(unit => unit.ToList())];

    /// <summary>The last request of the transaction with which a request commits. A prepared branch commits with the next commit.</summary>
    private static CrashPoint DeciderOf(CrashPoint point, IReadOnlyList<CrashPoint> points)
    {
        var prepared = points.FirstOrDefault(other => Is(other, Prepare) && other.Request.Server == point.Request.Server
            && (Is(point, CommitPrepared) || First(other) == First(point)));
        var decision = prepared is null ? null : points.FirstOrDefault(other => other.Number > prepared.Number && Is(other, Commit));
        var first = First(decision ?? point);
        return points.Last(other => First(other) == first);

        static int First(CrashPoint one) => one.Leading is [var first, ..] ? first : one.Number;
    }

    private List<string> WorkOf(IReadOnlyList<CrashPoint> unit) =>
    [
        .. unit.Select(point => (Kind: look.LabelOf(point), Label: LabelOf(point))).Where(one => one.Kind is { IsWork: true })
            .GroupBy(one => one.Kind!.Text, one => one.Label!).Select(same => same.Skip(1).Any() ? look.SeveralOf(same.Key) : same.First()),
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
        Results.Svg.Wrapped(window.Outcome.Text, Width - Margin - Strip - 16, OfCharacter, MostLines);

    private static string Fitting(string text, int pixels, double ofCharacter = OfCharacter) => Results.Svg.Wrapped(text, pixels, ofCharacter, most: 1)[0];

    private IEnumerable<string> BoxesOf(IReadOnlyList<CrashPoint> unit, int colour, List<int> bottoms)
    {
        var boxes = unit.GroupBy(LaneAt).OrderBy(lane => lane.Key).ToList();
        foreach (var lane in boxes)
        {
            var (top, bottom) = (bottoms[lane.First().Number - 1] + 2, bottoms[lane.Last().Number]);
            yield return $"""<rect class="of{colour}" x="{lane.Key}" y="{top}" width="{LaneWidth}" height="{bottom - top}" rx="3"/>""";
        }

        if (Commits(unit))
            yield return $"""<path class="commit of{colour}" d="M{boxes[0].Key} {bottoms[DeciderOf(unit[0], points).Number]}H{boxes[^1].Key + LaneWidth}"/>""";
    }

    private IEnumerable<string> MarksOf(CrashPoint point, int bottom)
    {
        var x = LaneAt(point);
        var label = LabelOf(point);
        yield return $"""<circle cx="{x + 9}" cy="{bottom - (label is null ? 4 : 11)}" r="{(label is null ? "1.5" : "3")}"/>""";
        if (label is null)
            yield break;
        var shown = look.HasNumbers ? NumberedLabelOf(point) : label;
        yield return Text(x + 18, bottom - 7, Is(point, Commit) ? "now" : "", Fitting(shown, LaneWidth - 18));
    }

    private IEnumerable<string> MarksOf(Window window, List<int> bottoms)
    {
        var (top, bottom) = (bottoms[window.From], bottoms[window.To + 1]);
        var (rect, text) = window.Outcome.IsRight switch
        {
            true => ("right", "dim"),
            false => ("wrong", "bad"),
            null => ("box", "dim"),
        };
        yield return $"""<rect class="{rect}" x="{Strip}" y="{top}" width="8" height="{bottom - top}"/>""";
        var lines = LinesOf(window);
        foreach (var (at, line) in lines.Index())
            yield return Text(Strip + 16, ((top + bottom - (lines.Count * Line)) / 2) + 11 + (at * Line), text, line);
    }

    private static string Text(int x, int y, string style, string text) =>
        $"""<text class="{style}" x="{x}" y="{y}"{(style == "title" ? "" : " font-size=\"12\"")}>{SecurityElement.Escape(text)}</text>""";

    /// <summary>The requests of one server that no other transaction overlaps.</summary>
    private sealed record Lane(string Server, int Number, List<CrashPoint> Points)
    {
        public static IReadOnlyList<Lane> Of(IReadOnlyList<IReadOnlyList<CrashPoint>> units)
        {
            var lanes = new List<Lane>();
            foreach (var part in units.SelectMany(unit => unit.GroupBy(point => point.Request.Server)).OrderBy(part => part.First().Number))
            {
                var ofServer = lanes.Where(lane => lane.Server == part.Key).ToList();
                var free = ofServer.Find(lane => lane.Points[^1].Number < part.First().Number);
                if (free is null)
                    lanes.Add(new Lane(part.Key, ofServer.Count + 1, [.. part]));
                else
                    free.Points.AddRange(part);
            }

            return [.. lanes.GroupBy(lane => lane.Server).SelectMany(ofServer => ofServer)];
        }

        public string NameIn(HandlingLook look) => look.LaneOf(Server) + (Number > 1 ? $" ({Figures.Plain(Number)})" : "");
    }

    /// <summary>Gaps between requests with one outcome.</summary>
    /// <param name="From">The number of requests before the first gap.</param>
    /// <param name="To">The number of requests before the last gap.</param>
    private sealed record Window(int From, int To, KillOutcome Outcome);
}

/// <summary>The measures and labels of a picture of one handling.</summary>
/// <param name="Strip">Position of the strip, in pixels; <see langword="null"/>: after as many <see cref="WideLane"/> as are needed.</param>
/// <param name="Outcomes">Width of the strip and its texts, in pixels.</param>
/// <param name="LabelOf">The label of a request; <see langword="null"/>: it is a dot without one.</param>
/// <param name="LaneOf">The name of a server.</param>
internal sealed record HandlingLook(int? Strip, int Outcomes, Func<CrashPoint, RequestLabel?> LabelOf, Func<string, string> LaneOf)
{
    public const int WideLane = 230;

    /// <summary>True if each label begins with the number of its point, which is in its tokens.</summary>
    public bool HasNumbers { get; init; }

    /// <summary>The name of work that is done several times in one transaction.</summary>
    public Func<string, string> SeveralOf { get; init; } = work => $"{work}s";
}

/// <summary>The label of a request.</summary>
/// <param name="IsWork">False for what only begins or ends a transaction.</param>
internal sealed record RequestLabel(string Text, bool IsWork);

/// <summary>The outcome of a kill for the message.</summary>
/// <param name="Text">In a few words.</param>
/// <param name="IsRight">True if it is as promised; <see langword="null"/>: it is not known.</param>
internal sealed record KillOutcome(string Text, bool? IsRight)
{
    public static KillOutcome Once { get; } = new("once", IsRight: true);
}
