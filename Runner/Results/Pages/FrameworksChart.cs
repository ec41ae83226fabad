using System.Security;
using Kit.Modes;
using Kit.Runner.Results.Faults;
using Kit.Runner.Results.Points;
using static Kit.Runner.Results.LinearScale;

namespace Kit.Runner.Results.Pages;

/// <summary>
/// The rate of each cell against the worst that its storm did to a message. A cell is a dot with its 95 % interval, below the heading of what happened.
/// </summary>
internal sealed class FrameworksChart
{
    /// <summary>Width in pixels, where the page has room for it.</summary>
    private const int Width = 460;

    private const string Picture = "docs/frameworks.svg";
    private const string Implied = "postgresql";

    private const int Left = 8;
    private const int Top = 62;
    private const int Row = 18;
    private const int Heading = 30;

    private readonly IReadOnlyList<IGrouping<Loss, Dot>> bands;
    private readonly LinearScale scale;
    private readonly bool hasCrashes;

    private FrameworksChart(IEnumerable<Dot> dots, bool hasCrashes)
    {
        this.hasCrashes = hasCrashes;
        bands = [.. dots.OrderByDescending(dot => dot.Rate.Mean).GroupBy(dot => dot.Worst).OrderBy(band => band.Key)];
        scale = LinearScale.Of(bands.SelectMany(band => band).Select(dot => (double?)(dot.Rate.High ?? dot.Rate.Mean)), Width - (2 * Left));
    }

    /// <summary>The block that shows it.</summary>
    public static BlockText Write(BlockSources sources)
    {
        var cells = FrameworksTable.CellsOf(sources);
        var dots =
            from cell in cells
            where cell.Speed.Rate is not null
            let storms = cell.Storms.Where(storm => storm.Verdict.IsConclusive()).ToList()
            where storms.Count > 0
            select new Dot(NameOf(cell.Name), cell.Speed.Rate!, LossOf.Storms(storms), storms.Exists(storm => storm.Verdict is FaultVerdict.Broken));
        var shown = cells.SelectMany(cell => cell.Storms).Where(storm => storm.Verdict.IsConclusive());
        var chart = new FrameworksChart(dots, ModesTable.HasCrashes(shown));
        return new($"<img src=\"{sources.LinkTo(Picture)}\" width=\"{Width}\" alt=\"The rate of each cell, by what a storm did\">")
        {
            Pictures = [(Picture, chart.Text)],
        };
    }

    private string Text
    {
        get
        {
            var height = Top + bands.Sum(band => Heading + (Row * band.Count())) + 64;
            return string.Join('\n', [.. Svg.Picture(Width, height, [$"<title>{SecurityElement.Escape(Words)}</title>"], Elements(height)), ""]);
        }
    }

    /// <summary>The chart in words, for readers who cannot see it.</summary>
    private string Words => string.Join(' ', bands.Select(band => $"{LossOf.Title(band.Key)}: {string.Join(", ", band.Select(dot => dot.InWords))}."));

    private IEnumerable<string> Elements(int height)
    {
        yield return """<text class="title" x="8" y="22">Messages per second, and what a storm does to them</text>""";
        yield return Note(42, "Queue and rows in PostgreSQL, unless the queue is said to be in RabbitMQ.");
        var bottom = height - 64;
        foreach (var tick in scale.Ticks.Prepend(0))
        {
            var x = Pixels(Left + scale.At(tick));
            yield return $"""<path class="life" d="M{x} {Top}V{bottom}" style="stroke-width:.5"/>""";
            yield return $"""<text x="{x}" y="{bottom + 14}" text-anchor="{(tick == 0 ? "start" : "middle")}" font-size="12">{Label(tick)}</text>""";
        }

        var y = Top;
        foreach (var band in bands)
        {
            var box = band.Key is Loss.Nothing ? "right" : "box";
            yield return $"""<rect class="{box}" x="{Left}" y="{y + 4}" width="{Width - (2 * Left)}" height="20" rx="3"/>""";
            yield return $"""<text x="{Left + 6}" y="{y + 18}" font-weight="bold">{LossOf.Title(band.Key)}</text>""";
            y += Heading;
            foreach (var dot in band)
            {
                foreach (var element in ElementsOf(dot, y + (Row / 2)))
                    yield return element;
                y += Row;
            }
        }

        yield return Note(bottom + 36, "Mean and 95 % interval. The handler inserts a row and sends a message.");
        var storm = hasCrashes ? "kills, cuts of connections, crashes of the server" : "kills of the process, cuts of its connections";
        yield return Note(bottom + 54, $"Storm: {storm}. Red: worse than promised.");
    }

    private IEnumerable<string> ElementsOf(Dot dot, int middle)
    {
        var (low, high) = (Left + scale.At(dot.Rate.Low ?? dot.Rate.Mean), Left + scale.At(dot.Rate.High ?? dot.Rate.Mean));
        var (line, fill) = dot.IsBroken ? ("fault", " style=\"fill:#cf222e\"") : ("alive", "");
        yield return $"""<path class="{line}" d="M{Pixels(low)} {middle}H{Pixels(high)}"/>""";
        yield return $"""<circle{fill} cx="{Pixels(Left + scale.At(dot.Rate.Mean))}" cy="{middle}" r="4"/>""";
        var (x, anchor) = Width - high > low ? (high + 8, "start") : (low - 8, "end");
        yield return $"""<text x="{Pixels(x)}" y="{middle + 4}" text-anchor="{anchor}" font-size="12">{dot.Name}</text>""";
    }

    private static string Note(int y, string text) => $"""<text class="dim" x="{Left}" y="{y}" font-size="12">{text}</text>""";

    private static string NameOf(CellName cell) => string.Join(
        ' ',
        from value in cell.Values
        where value is not ((AxisName.Access, ShownCells.Access) or (AxisName.Transport, Implied) or (AxisName.Scenario, _))
        select value.Value);

    /// <param name="Worst">What its storm did to at least one message.</param>
    private sealed record Dot(string Name, Estimate Rate, Loss Worst, bool IsBroken)
    {
        public string InWords => $"{Name} {Figures.Measured(Rate.Mean)}";
    }
}
