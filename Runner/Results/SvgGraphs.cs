using System.Security;

namespace Kit.Runner.Results;

/// <summary>
/// The rate of every round over time, one below the other in one picture, each with a text for readers who cannot see it. A page
/// shows one of them by its name after a <c>#</c> (SVG 2, section 16.3, linking into SVG content).
/// </summary>
public static class SvgGraphs
{
    /// <summary>The most bins of a round. With the steps of <see cref="GraphScale"/> the longest round has 24 to 60.</summary>
    public const int MostBins = 60;

    private const int Width = 240;
    private const int Height = 40;

    // Room for the rates on the left, the name of the round above, and the seconds below.
    private const int Left = 44;
    private const int Top = 16;
    private const int Right = Left + Width;
    private const int Bottom = Top + Height;

    // A graph with its labels, of which a long name may be wider than the axis; a gap that hides the next one if a page scales them.
    private const int Wide = Left + 316;
    private const int High = Bottom + 16;
    private const int Step = High + 8;

    /// <summary>The HTML element for the graph of a round.</summary>
    /// <param name="file">As the page refers to it.</param>
    public static string ImageOf(string file, RoundDocument round) =>
        $"<img src=\"{file}#{SecurityElement.Escape(Uri.EscapeDataString(round.GraphId))}\" width=\"{Wide}\" height=\"{High}\" alt=\"Rate over time\">";

    /// <summary>Writes the graphs of a run: those of its rounds in order, and a chart for each axis of its grid.</summary>
    public static void Write(RecordedRun run, TextWriter output)
    {
        var drawn = run.Rounds.Where(GraphScale.CanDraw).ToList();
        List<GridChart> charts = [.. GridTable.Of(run).Select(table => new GridChart(table))];
        var scale = GraphScale.Of(drawn, MostBins);
        var below = Math.Max(1, drawn.Count) * Step;
        Svg.Write(
            output, charts.Count == 0 ? Wide : Math.Max(Wide, GridChart.Width), below + charts.Sum(chart => chart.Height),
            $"Messages per second over time, round by round. {ReportText.ScaleOf(scale)}",
            [
                .. drawn.Select((round, index) => GraphOf(round, scale, index * Step)),
                .. charts.SelectMany((chart, index) => chart.ElementsAt(below + charts.Take(index).Sum(before => before.Height))),
            ]);
    }

    private static string GraphOf(RoundDocument round, GraphScale scale, int top)
    {
        var bins = scale.BinsOf(round);
        return
            $"""
            <view id="{SecurityElement.Escape(round.GraphId)}" viewBox="0 {top} {Wide} {High}"/>
            <g transform="translate(0 {top})">
            <title>{SecurityElement.Escape($"{round.Name} ({round.Outcome}): {WordsOf(round, scale, bins)}")}</title>
            {Svg.Text(Left, 11, "start", round.Name)}
            {Svg.Text(Left - 3, Top + 7, "end", $"{Figures.Measured(scale.PerSecond)}/s")}
            {Svg.Text(Left - 3, Bottom, "end", "0")}
            {Svg.Text(Right, Bottom + 12, "end", $"{Figures.Measured(scale.Seconds)} s")}
            <path d="M{Left},{Top}V{Bottom}H{Right}" fill="none" stroke="#8b949e"/>
            <path d="{OutlineOf(bins, scale)}" fill="#2f81f7" fill-opacity="0.25" stroke="#2f81f7"/>
            </g>
            """.ReplaceLineEndings("\n");
    }

    private static string WordsOf(RoundDocument round, GraphScale scale, IReadOnlyList<RateBin> bins) =>
        $"{Figures.Count(round.Throughput.Committed)} commits in {Figures.Measured(round.Throughput.ElapsedSeconds)} s; " +
        $"lowest {Figures.Measured(bins.Min(bin => bin.PerSecond))}, highest {Figures.Measured(bins.Max(bin => bin.PerSecond))} messages per second " +
        $"in bins of {Figures.Measured(scale.Bin.TotalSeconds)} s";

    // Steps, not slopes: a bin has one rate, and the area under it is its commits.
    private static string OutlineOf(IReadOnlyList<RateBin> bins, GraphScale scale)
    {
        var steps = bins.Select(bin => $"V{Y(bin.PerSecond, scale)}H{X(bin.Start + bin.Seconds, scale)}");
        return $"M{X(0, scale)},{Y(0, scale)}{string.Concat(steps)}V{Y(0, scale)}Z";
    }

    private static string X(double seconds, GraphScale scale) => Svg.Pixels(Left + (Width * seconds / scale.Seconds));

    private static string Y(double perSecond, GraphScale scale) => Svg.Pixels(Bottom - (Height * perSecond / scale.PerSecond));
}
