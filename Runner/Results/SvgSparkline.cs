using System.Globalization;
using System.Security;

namespace Kit.Runner.Results;

/// <summary>The rate of one round over time as a small picture, with its content in words for those who do not see it.</summary>
public static class SvgSparkline
{
    /// <summary>With the steps of <see cref="GraphScale"/> the longest round has 24 to 60 bins.</summary>
    public const int MostBins = 60;

    private const int Width = 240;
    private const int Height = 40;
    private const int Margin = 2;
    private const int Bottom = Height + Margin;
    // The picture with its margins.
    private const int Wide = Width + (2 * Margin);
    private const int High = Height + (2 * Margin);

    public static string PathOf(string folder, RoundDocument round) => $"{folder}/{round.FileName}.svg";

    public static void Write(RoundDocument round, GraphScale scale, TextWriter output)
    {
        var bins = scale.BinsOf(round);
        output.WriteLine(
            $"""
            <svg xmlns="http://www.w3.org/2000/svg" width="{Wide}" height="{High}" viewBox="0 0 {Wide} {High}" role="img" aria-labelledby="title desc">
              <title id="title">{SecurityElement.Escape(TitleOf(round))}</title>
              <desc id="desc">{SecurityElement.Escape(DescriptionOf(round, scale, bins))}</desc>
              <path d="M{Margin},{Margin}V{Bottom}H{Margin + Width}" fill="none" stroke="#8b949e" stroke-width="1"/>
              <path d="{OutlineOf(bins, scale)}" fill="#2f81f7" fill-opacity="0.25" stroke="#2f81f7" stroke-width="1" stroke-linejoin="round"/>
            </svg>
            """.ReplaceLineEndings("\n"));
    }

    private static string TitleOf(RoundDocument round) =>
        $"{round.Cell}, round {Figures.Plain(round.Round)}, attempt {Figures.Plain(round.Attempt)} ({round.Outcome}): messages per second over time";

    private static string DescriptionOf(RoundDocument round, GraphScale scale, IReadOnlyList<RateBin> bins) =>
        $"{Figures.Count(round.Throughput.Committed)} commits in {Figures.Measured(round.Throughput.ElapsedSeconds)} s; " +
        $"lowest {Figures.Measured(bins.Min(bin => bin.PerSecond))}, highest {Figures.Measured(bins.Max(bin => bin.PerSecond))} messages per second " +
        $"in bins of {Figures.Measured(scale.Bin.TotalSeconds)} s. " +
        $"The graph is {Figures.Measured(scale.Seconds)} s wide and from 0 to {Figures.Measured(scale.PerSecond)} messages per second high, " +
        "as all graphs of this run.";

    // Steps, not slopes: a bin has one rate, and the area under it is its commits.
    private static string OutlineOf(IReadOnlyList<RateBin> bins, GraphScale scale)
    {
        var steps = bins.Select(bin => $"V{Y(bin.PerSecond, scale)}H{X(bin.Start + bin.Seconds, scale)}");
        return $"M{X(0, scale)},{Y(0, scale)}{string.Concat(steps)}V{Y(0, scale)}Z";
    }

    private static string X(double seconds, GraphScale scale) => Pixels(Margin + (Width * seconds / scale.Seconds));

    private static string Y(double perSecond, GraphScale scale) => Pixels(Bottom - (Height * perSecond / scale.PerSecond));

    private static string Pixels(double position) => position.ToString("0.##", CultureInfo.InvariantCulture);
}
