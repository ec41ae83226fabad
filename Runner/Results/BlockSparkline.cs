namespace Kit.Runner.Results;

/// <summary>The rate of one round over time in block characters, one per bin: eighths of the scale's height, a blank for no commit.</summary>
public static class BlockSparkline
{
    /// <summary>The most characters of a round. With the steps of <see cref="GraphScale"/> the longest round has 12 to 30.</summary>
    public const int MostBins = 30;

    private const string Blocks = " ▁▂▃▄▅▆▇█";

    public static string Of(RoundDocument round, GraphScale scale) =>
        string.Concat(scale.BinsOf(round).Select(bin => BlockFor(bin.PerSecond / scale.PerSecond)));

    // Rounded up: a bin with few commits differs from one with none.
    private static char BlockFor(double height) => Blocks[(int)Math.Ceiling(height * (Blocks.Length - 1))];
}
