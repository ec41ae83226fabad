using Kit.Runner.Results;

namespace Kit.Benchmarks.Harness;

/// <summary>The rounds of one cell, watched and unwatched, and the table over them.</summary>
internal sealed class HarnessResults(string name)
{
    private readonly List<ContestResult> watched = [];
    private readonly List<ContestResult> unwatched = [];

    public string Name => name;

    public bool AreValid => watched.Concat(unwatched).All(result => result.Outcome.IsValid());

    public void Add(bool isWatched, ContestResult result) => (isWatched ? watched : unwatched).Add(result);

    public void Write(TextWriter output)
    {
        var table = new PlainTable(
            $"{name}: commits/s by the server's commit timestamps; the runner's own CPU time during the watched drain",
            "round", "watched", "unwatched", "watched/unwatched", "runner CPU ms", "of one core", "of the machine",
            "handler CPU ms/msg", "unwatched", "others");
        foreach (var (index, (with, without)) in watched.Zip(unwatched).Index())
        {
            table.Add(
                Figures.Plain(index + 1), Figures.Measured(with.PerSecond), Figures.Measured(without.PerSecond), PercentOf(with.PerSecond / without.PerSecond),
                Figures.Measured(with.OwnCpu?.TotalMilliseconds), PercentOf(CoreShareOf(with)), PercentOf(CoreShareOf(with) / Environment.ProcessorCount),
                Figures.Measured(with.Costs.HandlerCpuMilliseconds.Value), Figures.Measured(without.Costs.HandlerCpuMilliseconds.Value),
                ContestLine.OthersOf(with, without));
        }

        var coreShare = Median.Of(watched.Select(CoreShareOf));
        table.Add(
            "median", MedianOf(watched, result => result.PerSecond), MedianOf(unwatched, result => result.PerSecond),
            PercentOf(Median.Of(watched.Zip(unwatched, (with, without) => with.PerSecond / without.PerSecond))),
            MedianOf(watched, result => result.OwnCpu?.TotalMilliseconds), PercentOf(coreShare), PercentOf(coreShare / Environment.ProcessorCount),
            MedianOf(watched, result => result.Costs.HandlerCpuMilliseconds.Value), MedianOf(unwatched, result => result.Costs.HandlerCpuMilliseconds.Value), "");
        table.Write(output);
    }

    // Of the time between first and last commit, though the process's own time began a little before and ended a little after.
    private static double? CoreShareOf(ContestResult result) => result.OwnCpu?.TotalSeconds / result.Seconds;

    private static string MedianOf(List<ContestResult> results, Func<ContestResult, double?> figure) => Figures.Measured(Median.Of(results.Select(figure)));

    private static string PercentOf(double? share) => share is { } part ? $"{Figures.Measured(part * 100)} %" : Figures.None;
}
