using Kit.Guarantees;
using Kit.Runner.Results.Points;

namespace Kit.Runner.Results.Proofs;

/// <summary>
/// The events of one experiment, from top to bottom, as SVG: the application and its connections as lines, requests and answers as arrows between
/// them, and the findings at the end. It has a ground of its own, light or dark as the reader's system is.
/// </summary>
public sealed class TimelinePicture
{
    private const int Margin = 16;
    private const int LineHeight = 17;
    private const int LeastRow = 36;
    private const int HeaderHeight = 24;
    private const int ChipHeight = 26;
    private const int BeforeArrival = 28;

    // What is said of a row is to the right of all lines.
    private const int TextWidth = 540;

    // Widths of characters in pixels, rounded up: fonts differ.
    private const double OfCode = 7.4;
    private const double OfWords = 6.9;
    private const double OfTitle = 7.8;

    private const int WideLane = 118;
    private const int NarrowLane = 92;
    private const int MostWideLanes = 5;

    private readonly ProofResult result;
    private readonly IReadOnlyList<Lane> lanes;
    private readonly int laneWidth;
    private readonly int width;
    private readonly List<string> behind = [];
    private readonly List<string> marks = [];
    private int y = Margin;
    private int? aliveSince;

    /// <param name="result">With a timeline.</param>
    /// <param name="points">All points of the handling: their servers are shown, also if this experiment asked them nothing.</param>
    public TimelinePicture(ProofResult result, IEnumerable<CrashPoint> points)
    {
        this.result = result;
        lanes = Lane.Of(result.Timeline, points);
        laneWidth = lanes.Count < MostWideLanes ? WideLane : NarrowLane;
        width = TextStart + TextWidth + Margin;
        Draw();
    }

    private int TextStart => Margin + ((lanes.Count + 1) * laneWidth) + Margin;

    public void Write(TextWriter output)
    {
        var title = $"<title>{XmlText.Escaped($"{result.Point.Token}: {string.Join("; ", result.Violations)}")}</title>";
        var description = $"<desc>{XmlText.Escaped(string.Join("; ", TimelineStep.LinesOf(result.Timeline).Select(line => line.Trim())))}</desc>";
        foreach (var line in Svg.Picture(width, y, [title, description], behind.Concat(marks)))
            output.WriteLine(line);
    }

    private void Draw()
    {
        var wide = width - (2 * Margin);
        Say(Margin, ["title"], Svg.Wrapped($"{result.Point.Token}: {string.Join("; ", result.Violations)}", wide, OfTitle));
        Say(Margin, ["dim"], Svg.Wrapped(result.Point.Moment, wide, OfWords));
        y += 10;
        var top = DrawHeads();
        aliveSince = top;
        var last = result.Timeline.LastOrDefault(step => step.Kind is TimelineKind.Request);
        foreach (var step in result.Timeline.Where(step => !IsOfTheEnd(step)))
            Draw(step, isLast: step == last);
        y += 4;
        EndLife(y);
        foreach (var lane in Enumerable.Range(1, lanes.Count))
            behind.Add($"""<path class="life" d="M{X(lane)} {top}V{y}"/>""");
        behind.Add($"""<path class="end" d="M{Margin} {y}H{width - Margin}"/>""");
        y += 8;
        foreach (var step in result.Timeline.Where(IsOfTheEnd))
            DrawAtTheEnd(step);
        y += Margin;
    }

    /// <summary>True for a finding that was read when nothing moved any more.</summary>
    private static bool IsOfTheEnd(TimelineStep step) =>
        step.Kind is TimelineKind.Output or TimelineKind.Left or TimelineKind.Committed or TimelineKind.Found or TimelineKind.Class;

    private int DrawHeads()
    {
        foreach (var (lane, name) in lanes.Select(lane => lane.Name).Prepend("application").Index())
        {
            marks.Add($"""<rect class="box" x="{X(lane) - (laneWidth / 2) + 4}" y="{y}" width="{laneWidth - 8}" height="{HeaderHeight}" rx="4"/>""");
            var shown = Svg.Wrapped(name, laneWidth - 12, OfWords, most: 1)[0];
            marks.Add($"""<text x="{X(lane)}" y="{y + 16}" text-anchor="middle" font-size="12">{XmlText.Escaped(shown)}</text>""");
        }

        y += HeaderHeight;
        var bottom = y;
        y += 12;
        return bottom;
    }

    private void Draw(TimelineStep step, bool isLast)
    {
        switch (step.Kind)
        {
            case TimelineKind.Message or TimelineKind.Ordinary:
                marks.Add($"""<circle cx="{X(0)}" cy="{y + 9}" r="5"/>""");
                Row([], step.Text);
                break;
            case TimelineKind.Request:
                DrawRequest(step, isLast ? result.Point.Way.Facts() : null);
                break;
            case TimelineKind.Moment:
                if (result.Point.Way.Facts().KillsProcess)
                    Kill();
                Row(["bad"], step.Text);
                break;
            case TimelineKind.Process:
                if (aliveSince is not null)
                    Kill();
                Row(["dim"], step.Text);
                break;
            case TimelineKind.Restart:
                aliveSince = y + 9;
                marks.Add($"""<circle cx="{X(0)}" cy="{y + 9}" r="5"/>""");
                Row([], step.Text);
                break;
            case TimelineKind.LeftOut:
                Row(["dim"], step.Text);
                break;
            default:
                throw new InvalidOperationException($"No such step on the way: {step.Kind}.");
        }
    }

    private void DrawRequest(TimelineStep step, PointWayFacts? met)
    {
        var (application, server) = (X(0), X(1 + lanes.Index().First(lane => lane.Item.Has(step)).Index));
        marks.Add($"""<text class="dim" x="{application - 12}" y="{y + 13}" text-anchor="end">{step.Number}</text>""");
        if (met is { IsExecuted: false })
            Stopped(application, server, y + 9);
        else
            Arrow(application, server, y + 9, "request");
        if (step.Outcome is not null && met is not null)
            Stopped(server, application, y + 23);
        else if (step.Outcome is not null)
            Arrow(server, application, y + 23, "answer");

        var start = y;
        Say(TextStart, ["code"], Svg.Wrapped(step.Text, TextWidth, OfCode));
        if (step.Outcome is { } outcome)
            Say(TextStart, ["code", met is null ? "dim" : "bad"], Svg.Wrapped($"→ {outcome}{(met is null ? "" : " (withheld)")}", TextWidth, OfCode));
        else if (met is { IsExecuted: false })
            Say(TextStart, ["bad"], ["never sent"]);
        y = Math.Max(y + 8, start + LeastRow);
    }

    private void DrawAtTheEnd(TimelineStep step)
    {
        switch (step.Kind)
        {
            case TimelineKind.Output or TimelineKind.Left or TimelineKind.Committed:
                Say(Margin, ["dim"], Svg.Wrapped(step.Text, width - (2 * Margin), OfWords));
                break;
            case TimelineKind.Found:
                y += 6;
                DrawFound();
                break;
            case TimelineKind.Class:
                // With the effects.
                break;
            default:
                throw new InvalidOperationException($"No such step at the end: {step.Kind}.");
        }
    }

    private void DrawFound()
    {
        var x = Margin;
        foreach (var effect in result.Found)
            x = Chip(x, $"{effect}", effect.Count == effect.PerMessage);
        if (result.Class is { } kind)
            Chip(x, $"the message is {Words.Of(kind)}", kind is DeliveryClass.Once);
        y += ChipHeight;
    }

    /// <returns>The position at which the next one begins.</returns>
    private int Chip(int x, string text, bool isRight)
    {
        var wide = (int)(text.Length * OfTitle) + 20;
        if (x > Margin && x + wide > width - Margin)
        {
            x = Margin;
            y += ChipHeight + 6;
        }

        marks.Add($"""<rect class="{(isRight ? "right" : "wrong")}" x="{x}" y="{y}" width="{wide}" height="{ChipHeight}" rx="13"/>""");
        marks.Add($"""<text class="{(isRight ? "good" : "bad")}" x="{x + (wide / 2)}" y="{y + 17}" text-anchor="middle">{XmlText.Escaped(text)}</text>""");
        return x + wide + 8;
    }

    private void Kill()
    {
        EndLife(y + 9);
        Cross(X(0), y + 9, 8, "kill");
    }

    private void EndLife(int at)
    {
        if (aliveSince is { } since)
            behind.Add($"""<path class="alive" d="M{X(0)} {since}V{at}"/>""");
        aliveSince = null;
    }

    private void Arrow(int from, int to, int at, string style)
    {
        var back = to > from ? -7 : 7;
        marks.Add($"""<path class="{style}" d="M{from} {at}H{to}"/>""");
        marks.Add($"""<path class="{style} head" d="M{to + back} {at - 4}L{to} {at}L{to + back} {at + 4}"/>""");
    }

    /// <summary>An arrow that does not arrive.</summary>
    private void Stopped(int from, int to, int at)
    {
        var end = to > from ? to - BeforeArrival : to + BeforeArrival;
        marks.Add($"""<path class="fault" d="M{from} {at}H{end}"/>""");
        Cross(end, at, 5, "fault");
    }

    private void Cross(int x, int at, int size, string style) =>
        marks.Add($"""<path class="{style}" d="M{x - size} {at - size}l{2 * size} {2 * size}M{x + size} {at - size}l{-2 * size} {2 * size}"/>""");

    /// <summary>A row of the timeline with words alone.</summary>
    private void Row(IReadOnlyList<string> styles, string text)
    {
        Say(TextStart, styles, Svg.Wrapped(text, TextWidth, OfWords));
        y += 8;
    }

    private void Say(int x, IReadOnlyList<string> styles, IReadOnlyList<string> lines)
    {
        var style = styles.Count == 0 ? "" : $" class=\"{string.Join(' ', styles)}\"";
        foreach (var line in lines)
        {
            marks.Add($"""<text{style} x="{x}" y="{y + 13}">{XmlText.Escaped(line)}</text>""");
            y += LineHeight;
        }
    }

    private int X(int lane) => Margin + (laneWidth / 2) + (lane * laneWidth);

    /// <summary>A connection to a server, or a server that was asked nothing.</summary>
    private sealed record Lane(string Server, int? Connection, string Name)
    {
        public static IReadOnlyList<Lane> Of(IEnumerable<TimelineStep> timeline, IEnumerable<CrashPoint> points)
        {
            var asked = timeline.Where(step => step.Kind is TimelineKind.Request).Select(step => (Server: step.Server!, step.Connection)).Distinct().ToList();
            var servers = points.Select(point => point.Request.Server).Concat(asked.Select(one => one.Server)).Distinct();
            return
            [
                .. from server in servers
                   let connections = asked.Where(one => one.Server == server).ToList()
                   from lane in connections.Count > 1 ? connections.Select((one, at) => new Lane(server, one.Connection, $"{server} ({at + 1})"))
                       : connections.Select(one => new Lane(server, one.Connection, server)).DefaultIfEmpty(new Lane(server, Connection: null, server))
                   select lane,
            ];
        }

        public bool Has(TimelineStep request) => request.Server == Server && request.Connection == Connection;
    }
}
