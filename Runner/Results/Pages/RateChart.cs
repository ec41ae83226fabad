using System.Security;
using Kit.Modes;
using Kit.Runner.Results.Faults;
using static Kit.Runner.Results.LinearScale;

namespace Kit.Runner.Results.Pages;

/// <summary>
/// The rate of each mode as a bar, with its 95 % interval. Below the name of each mode stands the result of its storm, and the bar of a mode that lost or
/// doubled something is hatched. Narrow, so that its text can be read on a telephone, and with a ground of its own, so that it can be read in a light and in
/// a dark page.
/// </summary>
internal sealed class RateChart
{
    /// <summary>Width in pixels, where the page has room for it.</summary>
    private const int Width = 440;

    private const string Picture = "docs/modes.svg";

    private const int Bars = 126;
    private const int Longest = 252;
    private const int BarHeight = 16;
    private const int Gap = 12;
    private const int Top = 38;
    private const int Line = 20;
    private const int FewestTicks = 2;

    // Two lines of text fit next to it.
    private const int LeastRow = 32;

    private readonly IReadOnlyList<(TransactionMode Mode, Estimate Rate)> modes;
    private readonly Dictionary<TransactionMode, int> notOnce;
    private readonly LinearScale scale;
    private readonly bool hasCrashes;

    /// <param name="storms">Have the results of each mode; <see langword="null"/>: none are shown.</param>
    /// <exception cref="KitException">The run or the storms lack a mode that is shown, or the run has no round of it that counts.</exception>
    public RateChart(RunSource run, FaultSource? storms)
    {
        notOnce = storms is null ? []
            : ShownCells.Modes.ToDictionary(mode => mode, mode => MessagesOf(storms.StormOf(mode)));
        hasCrashes = storms is not null && ModesTable.HasCrashes(ShownCells.Modes.Select(storms.StormOf));
        modes = [.. ShownCells.Modes.Select(mode => (mode, RateOf(run, mode)))];
        scale = LinearScale.Of(modes.Select(mode => (double?)(mode.Rate.High ?? mode.Rate.Mean)), Longest);
    }

    /// <summary>The block that shows it.</summary>
    public static BlockText Write(BlockSources sources)
    {
        var chart = new RateChart(sources.Run, sources.StormsOrNone);
        return new($"<img src=\"{sources.LinkTo(Picture)}\" width=\"{Width}\" alt=\"The rates of the modes as bars\">") { Pictures = [(Picture, chart.Svg)] };
    }

    private static int MessagesOf(FaultResult storm) =>
        GuaranteeTables.MessagesNotOnceOf(storm) is > 0 and var messages ? messages
        : GuaranteeTables.NotOnceOf(storm) is "0" ? 0
        : throw new KitException($"the storm over {storm.Cell} broke a promise that the chart does not show.", "Find out why before anything is published.");

    /// <summary>The chart in words, for readers who cannot see it.</summary>
    public string Words =>
        "Messages per second: " +
        string.Join(", ", modes.Select(mode =>
            $"{mode.Mode} {Figures.Measured(mode.Rate.Mean)}" +
            (notOnce.TryGetValue(mode.Mode, out var messages) && messages > 0 ? $" ({WordsOf(messages)} in a storm)" : "")));

    public string Svg
    {
        get
        {
            const int step = LeastRow + Gap;
            var legend = Top + (step * modes.Count);
            var height = legend + ((notOnce.Count > 0 ? 3 : 2) * Line) + 4;
            return string.Join('\n',
            [
                $"""<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {Width} {height}" width="{Width}" height="{height}" """ +
                """font-family="sans-serif" font-size="14">""",
                $"<title>{SecurityElement.Escape(Words)}</title>",
                "<style>",
                "text{fill:#1f2328}.ground{fill:#fff}.bar{fill:#4878a8}path{stroke:#1f2328;fill:none}" +
                ".grid{stroke:#d0d7de}.hatch{stroke:#fff;stroke-width:3}",
                "@media(prefers-color-scheme:dark){text{fill:#e6edf3}.ground{fill:#0d1117}.bar{fill:#4f86bd}path{stroke:#e6edf3}" +
                ".grid{stroke:#3d444d}.hatch{stroke:#0d1117}}",
                "</style>",
                """<defs><pattern id="lossy" width="8" height="8" patternUnits="userSpaceOnUse"><path class="hatch" d="M-2 10L10 -2"/></pattern></defs>""",
                $"""<rect class="ground" width="{Width}" height="{height}"/>""",
                """<text x="8" y="20" font-size="15" font-weight="bold">Messages per second, bare endpoint on PostgreSQL</text>""",
                .. Ticks.Select(tick => $"""<path class="grid" d="M{Pixels(Bars + scale.At(tick))} {Top - 4}V{legend}"/>"""),
                .. modes.SelectMany((mode, index) => RowOf(mode.Mode, mode.Rate, Top + (index * step))),
                $"""<path d="M{Bars} {Top - 4}V{legend}"/>""",
                .. Ticks.Prepend(0).Select(tick =>
                    $"""<text x="{Pixels(Bars + scale.At(tick))}" y="{legend + 14}" text-anchor="middle" font-size="12">{Figures.Count((int)tick)}</text>"""),
                .. LegendOf(legend + Line + 4),
                "</svg>",
                "",
            ]);
        }
    }

    /// <summary>The marks of the axis after 0: 1, 2 or 5 times a power of ten apart.</summary>
    private IEnumerable<double> Ticks
    {
        get
        {
            var decade = Math.Pow(10, Math.Floor(Math.Log10(scale.Most)));
            var step = new[] { decade, decade / 2, decade / 5 }.First(step => scale.Most / step >= FewestTicks);
            for (var tick = step; tick <= scale.Most; tick += step)
                yield return tick;
        }
    }

    private static string WordsOf(int messages) => messages == 0 ? "all exactly once" : $"{Figures.Count(messages)} not exactly once";

    private static Estimate RateOf(RunSource run, TransactionMode mode) => run.CellOf(mode).Rate ?? throw new KitException(
        $"no round of {run.CellOf(mode).Cell} counts in {run.Folder}.", "Name the folder of a run in which each mode has one.");

    private IEnumerable<string> RowOf(TransactionMode mode, Estimate rate, int top)
    {
        yield return $"""<text x="{Bars - 8}" y="{top + 13}" text-anchor="end">{mode}</text>""";
        if (notOnce.TryGetValue(mode, out var messages))
            yield return $"""<text x="{Bars - 8}" y="{top + 29}" text-anchor="end" font-size="12">{WordsOf(messages)}</text>""";
        var (bar, middle) = (Pixels(scale.At(rate.Mean)), top + (BarHeight / 2));
        yield return $"""<rect class="bar" x="{Bars}" y="{top}" width="{bar}" height="{BarHeight - 1}"/>""";
        if (messages > 0)
            yield return $"""<rect fill="url(#lossy)" x="{Bars}" y="{top}" width="{bar}" height="{BarHeight - 1}"/>""";
        if (rate is { Low: { } low, High: { } high })
        {
            var (from, to) = (Pixels(Bars + scale.At(low)), Pixels(Bars + scale.At(high)));
            yield return $"""<path d="M{from} {middle}H{to}M{from} {middle - 4}v8M{to} {middle - 4}v8"/>""";
        }

        var end = Bars + scale.At(rate.High ?? rate.Mean);
        yield return $"""<text x="{Pixels(end + 8)}" y="{middle + 5}">{Figures.Measured(rate.Mean)}</text>""";
    }

    private IEnumerable<string> LegendOf(int top)
    {
        yield return $"""<text x="8" y="{top + 11}" font-size="12">Mean and 95 % interval. The handler inserts a row and sends a message.</text>""";
        var storm = $"Small type: {(hasCrashes ? "kills, cuts and server crashes" : "a storm of kills and cuts")}; hatched where not all were once.";
        if (notOnce.Count > 0)
            yield return $"""<text x="8" y="{top + Line + 7}" font-size="12">{storm}</text>""";
    }
}
