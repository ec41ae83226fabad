using System.Security;
using Kit.Modes;

namespace Kit.Runner.Results;

/// <summary>
/// A <see cref="GridTable"/> as a picture: a line for each mode over the values, one graph for each group. All graphs have the same scale. A line has a gap
/// where a cell was not measured.
/// </summary>
internal sealed class GridChart(GridTable table)
{
    /// <summary>Width in pixels.</summary>
    public const int Width = 480;

    private const int Left = 56;
    private const int Right = 464;
    private const int Title = 16;
    private const int Plot = 140;
    private const int Group = Title + Plot + 34;
    private const int LegendLine = 18;
    private const int LegendColumn = 120;
    private const int LegendColumns = 4;
    private const int MostTicks = 5;

    // Okabe and Ito's colours, which differ for the colour-blind, too, without black and yellow: they vanish on dark and on light pages.
    private static readonly string[] Colours = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00"];
    private static readonly string[] Dashes = ["", "6 3", "2 2"];

    private readonly double highest =
        table.Groups.SelectMany(group => group.Values).SelectMany(value => value.Rates.Values)
            .Max(rate => rate?.High ?? rate?.Mean) is { } most and > 0 ? most : 1;

    private double Step => LinearScale.StepFor(highest, MostTicks);

    private int Ticks => (int)Math.Ceiling(highest / Step);

    /// <summary>The id with which a page refers to it, after a <c>#</c>.</summary>
    public string Id => $"by-{table.Axis}";

    public int Height => (table.Groups.Count * Group) + (LegendLine * (1 + ((table.Modes.Count - 1) / LegendColumns))) + 8;

    /// <summary>The HTML element for a page.</summary>
    /// <param name="file">As the page refers to it.</param>
    public string ImageOf(string file) =>
        $"<img src=\"{file}#{Id}\" width=\"{Width}\" height=\"{Height}\" alt=\"Messages per second by {table.Axis}, as in the table\">";

    /// <summary>Its elements, below others in one picture.</summary>
    /// <param name="top">Position of the first element, in pixels.</param>
    public IEnumerable<string> ElementsAt(int top) =>
    [
        $"""<view id="{Id}" viewBox="0 {top} {Width} {Height}"/>""",
        $"""<g transform="translate(0 {top})">""",
        $"<title>{SecurityElement.Escape($"Mean messages per second by {table.Axis}, with 95 % intervals")}</title>",
        .. table.Groups.SelectMany((group, at) => ElementsOf(group, at * Group)),
        .. table.Modes.SelectMany((mode, at) => LegendOf(
            mode, Left + (at % LegendColumns * LegendColumn) - 48, (table.Groups.Count * Group) + (at / LegendColumns * LegendLine))),
        "</g>",
    ];

    private IEnumerable<string> ElementsOf(GridGroup group, int top)
    {
        var (upper, lower) = (top + Title, top + Title + Plot);
        yield return Svg.Text(Left, top + 11, "start", group.Others);
        for (var tick = 0; tick <= Ticks; tick++)
        {
            var (rate, y) = (Step * tick, Y(Step * tick, lower));
            yield return $"""<path d="M{Left},{Svg.Pixels(y)}H{Right}" fill="none" stroke="#8b949e" stroke-opacity="{(tick == 0 ? "1" : "0.3")}"/>""";
            yield return Svg.Text(Left - 4, y + 3, "end", LinearScale.Label(rate) + (tick == Ticks ? "/s" : ""));
        }

        foreach (var (at, value) in group.Values.Index())
            yield return Svg.Text(X(at, group), lower + 14, "middle", value.Name);
        foreach (var mode in table.Modes)
        {
            var known = group.Values.Index().Where(one => one.Item.Rates.GetValueOrDefault(mode) is not null)
                .Select(one => (one.Index, Rate: one.Item.Rates[mode]!)).ToList();
            var path = string.Concat(known.Select(one =>
                $"{(known.Exists(before => before.Index == one.Index - 1) ? 'L' : 'M')}{Svg.Pixels(X(one.Index, group))}," +
                Svg.Pixels(Y(one.Rate.Mean, lower))));
            yield return $"""<path d="{path}" fill="none" stroke="{ColourOf(mode)}" stroke-width="2" stroke-dasharray="{DashOf(mode)}"/>""";
            foreach (var (at, rate) in known)
            {
                var x = X(at, group);
                if (rate is { Low: { } low, High: { } high })
                    yield return $"""<path d="M{Svg.Pixels(x)},{Svg.Pixels(Y(low, lower))}V{Svg.Pixels(Y(high, lower))}" stroke="{ColourOf(mode)}"/>""";
                yield return $"""<circle cx="{Svg.Pixels(x)}" cy="{Svg.Pixels(Y(rate.Mean, lower))}" r="3" fill="{ColourOf(mode)}"/>""";
            }
        }

        yield return $"""<path d="M{Left},{upper}V{lower}" fill="none" stroke="#8b949e"/>""";
    }

    private IEnumerable<string> LegendOf(string mode, int left, int top) =>
    [
        $"""<path d="M{left},{top + 8}h20" stroke="{ColourOf(mode)}" stroke-width="2" stroke-dasharray="{DashOf(mode)}"/>""",
        Svg.Text(left + 24, top + 11, "start", mode),
    ];

    // A mode has the same line in every chart.
    private string ColourOf(string mode) => Colours[PlaceOf(mode) % Colours.Length];

    private string DashOf(string mode) => Dashes[PlaceOf(mode) / Colours.Length % Dashes.Length];

    // A run of another build can have modes that this one does not know.
    private int PlaceOf(string mode) => TransactionMode.All.Select(one => one.Name).Concat(table.Modes).Index().First(one => one.Item == mode).Index;

    private static double X(int at, GridGroup group) => Left + ((Right - Left) * (at + 0.5) / group.Values.Count);

    private double Y(double perSecond, int lower) => lower - (Plot * perSecond / (Step * Ticks));
}
