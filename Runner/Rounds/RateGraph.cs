namespace Kit.Runner.Rounds;

/// <summary>The rate of the current round, from the counts that are reported while it runs.</summary>
internal sealed class RateGraph
{
    private const string Blocks = " ▁▂▃▄▅▆▇█";

    // Counts come four times a second. A shorter bin would show that and not the rate.
    private static readonly double[] Bins = [0.5, 1, 2, 5, 10, 20, 60, 120, 300, 600];

    private static readonly TimeSpan Recent = TimeSpan.FromSeconds(1);

    private readonly List<(TimeSpan At, double Handled)> counts = [];

    /// <summary>The latest count.</summary>
    public int Handled => counts.Count == 0 ? 0 : (int)counts[^1].Handled;

    /// <summary>A count was reported.</summary>
    public void Add(TimeSpan at, int handled)
    {
        // The first count says where the round stands, not since when.
        if (counts.Count == 0 || at > counts[^1].At)
            counts.Add((at, handled));
    }

    /// <summary>Messages per second of the last second; <see langword="null"/> before there are two counts.</summary>
    public double? PerSecond(TimeSpan now)
    {
        if (counts.Count < 2)
            return null;

        // Between two counts nothing is known. After a second without a new one, nothing was handled.
        var end = now - counts[^1].At > Recent ? now : counts[^1].At;
        var from = Later(counts[0].At, end - Recent);
        return (HandledAt(end) - HandledAt(from)) / (end - from).TotalSeconds;
    }

    /// <summary>A character for each stretch of time, at most so many, on a scale from 0 to the highest.</summary>
    /// <returns>The graph and the rate of its highest bin; an empty graph before there is a bin.</returns>
    public (string Graph, double Highest) Draw(TimeSpan now, int width)
    {
        if (counts.Count < 2 || width < 1)
            return ("", 0);

        var length = (Later(counts[^1].At, now - Recent) - counts[0].At).TotalSeconds;
        var bin = Array.Find(Bins, each => length / each <= width) is > 0 and var fitting ? fitting : length / width;
        var rates = Enumerable.Range(0, Math.Min(width, (int)(length / bin))).Select(RateOf).ToList();
        var highest = rates.Count == 0 ? 0 : rates.Max();
        return highest <= 0
            ? (new string(' ', rates.Count), 0)
            : (string.Concat(rates.Select(rate => Blocks[(int)Math.Ceiling(rate / highest * (Blocks.Length - 1))])), highest);

        double RateOf(int index) => (HandledAt(At(index + 1)) - HandledAt(At(index))) / bin;

        TimeSpan At(int border) => counts[0].At + TimeSpan.FromSeconds(border * bin);
    }

    private static TimeSpan Later(TimeSpan one, TimeSpan other) => one > other ? one : other;

    /// <summary>The count at a moment, on a straight line between two reports.</summary>
    private double HandledAt(TimeSpan moment)
    {
        if (moment <= counts[0].At)
            return counts[0].Handled;
        if (moment >= counts[^1].At)
            return counts[^1].Handled;

        var (low, high) = (0, counts.Count - 1);
        while (high - low > 1)
        {
            var middle = (low + high) / 2;
            (low, high) = counts[middle].At <= moment ? (middle, high) : (low, middle);
        }

        var (before, after) = (counts[low], counts[high]);
        return before.Handled + ((after.Handled - before.Handled) * ((moment - before.At) / (after.At - before.At)));
    }
}
