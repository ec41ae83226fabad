using Kit.Runner.Results;

namespace Kit.Benchmarks.Waits;

/// <summary>The rounds of one cell, and the table over all cells.</summary>
internal sealed class WaitsOfACell(string name)
{
    private readonly List<ContestResult> results = [];
    private readonly WaitSamples samples = new();

    /// <summary>Samples of the drain that ended last.</summary>
    public WaitSamples Last { private get; set; } = new();

    public string Name => name;

    public bool AreValid => results.TrueForAll(result => result.Outcome.IsValid());

    public void Add(ContestResult result)
    {
        results.Add(result);
        if (result.Outcome.IsValid())
            samples.Add(Last);
    }

    public static void Write(IReadOnlyList<WaitsOfACell> cells, int concurrency, TextWriter output)
    {
        var waits = cells.SelectMany(cell => cell.samples.Waits).Distinct()
            .OrderByDescending(wait => cells.Sum(cell => cell.samples.MeanOf(wait))).ToList();
        var table = new PlainTable(
            $"Sessions in each wait at a moment, on average, while {concurrency} handlers work. '{WaitSampler.Running}': has a processor, or is in the queue " +
            "for one",
            ["", .. cells.Select(cell => cell.Name)]);
        foreach (var wait in waits)
            table.Add([wait, .. cells.Select(cell => Figures.Measured(cell.samples.MeanOf(wait)))]);
        table.Add(["all active sessions", .. cells.Select(cell => Figures.Measured(waits.Sum(cell.samples.MeanOf)))]);
        table.Add(["samples", .. cells.Select(cell => Figures.Count(cell.samples.Taken))]);
        table.Add(["commits/s, median", .. cells.Select(cell => cell.MedianOf(result => result.PerSecond))]);
        table.Add(["flushes per message", .. cells.Select(cell => cell.MedianOf(result => result.Costs.WalFlushes.Value))]);
        table.Add(["CPU ms per message, endpoint", .. cells.Select(cell => cell.MedianOf(result => result.Costs.HandlerCpuMilliseconds.Value))]);
        table.Add(["CPU ms per message, server", .. cells.Select(cell => cell.MedianOf(result => result.Costs.ServerCpuMilliseconds.Value))]);
        table.Write(output);
    }

    private string MedianOf(Func<ContestResult, double?> figure) =>
        Figures.Measured(Median.Of(results.Where(result => result.Outcome.IsValid()).Select(figure)));
}
