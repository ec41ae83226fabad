using System.Globalization;
using System.Security;
using Kit.Modes;
using Kit.Runner.Results.Faults;

namespace Kit.Runner.Results.Pages;

/// <summary>
/// The rate of each mode as a bar, with its 95 % interval; a second bar for the handler that sends, where the run has it. Narrow, so that its text can
/// be read on a telephone, and with a ground of its own, so that it can be read in a light and in a dark page.
/// </summary>
internal sealed class RateChart
{
    /// <summary>In pixels, where the page has room for it.</summary>
    public const int Width = 440;

    private const int Bars = 126;
    private const int Longest = 252;
    private const int BarHeight = 16;
    private const int Gap = 12;
    private const int Top = 10;
    private const int Line = 20;
    private const int LegendStep = 90;

    private static readonly IReadOnlyList<(string Name, string? Scenario, string Style)> Handlers =
        [("insert", null, "insert"), (SpeedSource.LikeExperiments, SpeedSource.LikeExperiments, "send")];

    private readonly IReadOnlyList<(string Name, string? Scenario, string Style)> handlers;
    private readonly IReadOnlyList<(TransactionMode Mode, IReadOnlyList<(string Style, Estimate Rate)> Rates)> modes;
    private readonly double most;

    /// <exception cref="KitException">The run lacks a mode that is shown, or a round of it that counts.</exception>
    public RateChart(RunSource run)
    {
        handlers = [.. Handlers.Where(handler => handler.Scenario is null || ShownCells.Modes.Any(mode => run.Find(mode, handler.Scenario)?.Rate is not null))];
        modes = [.. ShownCells.Modes.Select(mode => (mode, (IReadOnlyList<(string, Estimate)>)[.. RatesOf(run, mode)]))];
        most = modes.SelectMany(mode => mode.Rates).Max(bar => bar.Rate.High ?? bar.Rate.Mean);
    }

    /// <summary>For those who do not see it.</summary>
    public string Words =>
        $"Messages per second ({string.Join(" and ", handlers.Select(handler => handler.Name))}): " +
        string.Join(", ", modes.Select(mode => $"{mode.Mode} {string.Join(" and ", mode.Rates.Select(bar => Figures.Measured(bar.Rate.Mean)))}"));

    public string Svg
    {
        get
        {
            var step = (BarHeight * handlers.Count) + Gap;
            var legend = Top + (step * modes.Count);
            var height = legend + (2 * Line);
            return string.Join('\n',
            [
                $"""<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {Width} {height}" width="{Width}" height="{height}" """ +
                """font-family="sans-serif" font-size="14">""",
                $"<title>{SecurityElement.Escape(Words)}</title>",
                "<style>",
                "text{fill:#1f2328}.ground{fill:#fff}.insert{fill:#4878a8}.send{fill:#b87333}path{stroke:#1f2328;fill:none}",
                "@media(prefers-color-scheme:dark){text{fill:#e6edf3}.ground{fill:#0d1117}.insert{fill:#4f86bd}.send{fill:#b87333}path{stroke:#e6edf3}}",
                "</style>",
                $"""<rect class="ground" width="{Width}" height="{height}"/>""",
                .. modes.SelectMany((mode, index) => RowOf(mode.Mode, mode.Rates, Top + (index * step))),
                .. LegendOf(legend),
                "</svg>",
                "",
            ]);
        }
    }

    private IEnumerable<(string Style, Estimate Rate)> RatesOf(RunSource run, TransactionMode mode)
    {
        if (run.CellOf(mode).Rate is null)
        {
            throw new KitException(
                $"no round of bare/postgresql/{mode}/ado counts in {run.Folder}.", "Name the folder of a run in which each mode has one.");
        }

        foreach (var (_, scenario, style) in handlers)
        {
            if (run.Find(mode, scenario)?.Rate is { } rate)
                yield return (style, rate);
        }
    }

    private IEnumerable<string> RowOf(TransactionMode mode, IReadOnlyList<(string Style, Estimate Rate)> rates, int top)
    {
        yield return $"""<text x="{Bars - 8}" y="{top + (BarHeight * rates.Count / 2) + 5}" text-anchor="end">{mode}</text>""";
        foreach (var (index, (style, rate)) in rates.Index())
        {
            var (y, middle) = (top + (index * BarHeight), top + (index * BarHeight) + (BarHeight / 2));
            yield return $"""<rect class="{style}" x="{Bars}" y="{y}" width="{Pixels(LengthOf(rate.Mean))}" height="{BarHeight - 1}"/>""";
            if (rate is { Low: { } low, High: { } high })
            {
                var (from, to) = (Pixels(Bars + LengthOf(low)), Pixels(Bars + LengthOf(high)));
                yield return $"""<path d="M{from} {middle}H{to}M{from} {middle - 4}v8M{to} {middle - 4}v8"/>""";
            }

            var end = Bars + LengthOf(rate.High ?? rate.Mean);
            yield return $"""<text x="{Pixels(end + 8)}" y="{middle + 5}">{Figures.Measured(rate.Mean)}</text>""";
        }
    }

    private IEnumerable<string> LegendOf(int top)
    {
        foreach (var (index, handler) in handlers.Index())
        {
            var x = Bars + (index * LegendStep);
            yield return $"""<rect class="{handler.Style}" x="{x}" y="{top + 1}" width="10" height="10"/>""";
            yield return $"""<text x="{x + 16}" y="{top + 11}">{handler.Name}</text>""";
        }

        yield return $"""<text x="{Bars}" y="{top + Line + 11}" font-size="12">msg/s, bare on PostgreSQL; mean, 95 % interval</text>""";
    }

    private double LengthOf(double? perSecond) => Longest * (perSecond ?? 0) / most;

    private static string Pixels(double position) => position.ToString("0.#", CultureInfo.InvariantCulture);
}
