using Kit.Runner.Results;

namespace Kit.Benchmarks.Harness;

/// <summary>The rounds of one cell, watched and unwatched, and the tables over them.</summary>
internal sealed class HarnessResults(string name)
{
    private readonly List<ContestResult> watched = [];
    private readonly List<ContestResult> unwatched = [];
    private readonly List<double?> coreShares = [];

    public string Name => name;

    public bool AreValid => watched.Concat(unwatched).All(result => result.Outcome.IsValid());

    /// <param name="result">The round.</param>
    /// <param name="coreShare">The runner's CPU time while messages were handled, as a share of one core.</param>
    public void AddWatched(ContestResult result, double? coreShare)
    {
        watched.Add(result);
        coreShares.Add(coreShare);
    }

    public void AddUnwatched(ContestResult result) => unwatched.Add(result);

    public void Write(TextWriter output)
    {
        output.WriteLine();
        output.WriteLine(name);
        var rates = new PlainTable(
            "Commits/s by the server's commit timestamps; CPU per message in the endpoint's process, ms",
            "round", "watched", "unwatched", "watched/unwatched", "CPU watched", "CPU unwatched", "others");
        foreach (var (index, (with, without)) in watched.Zip(unwatched).Index())
        {
            rates.Add(
                Figures.Plain(index + 1), Figures.Measured(with.PerSecond), Figures.Measured(without.PerSecond), PercentOf(with.PerSecond / without.PerSecond),
                Figures.Measured(CpuOf(with)), Figures.Measured(CpuOf(without)), ContestLine.OthersOf(with, without));
        }

        rates.Add(
            "median", MedianOf(watched, result => result.PerSecond), MedianOf(unwatched, result => result.PerSecond),
            PercentOf(Median.Of(watched.Zip(unwatched, (with, without) => with.PerSecond / without.PerSecond))),
            MedianOf(watched, CpuOf), MedianOf(unwatched, CpuOf), "");
        rates.Write(output);

        var runner = new PlainTable(
            "CPU of the runner's process: for the whole drain, with the samples before and after the clock; and while messages are handled",
            "round", "whole drain ms", "while handling, of one core", "of the machine");
        foreach (var (index, (with, share)) in watched.Zip(coreShares).Index())
            runner.Add(Figures.Plain(index + 1), Figures.Measured(OwnCpuOf(with)), PercentOf(share), PercentOf(share / Environment.ProcessorCount));

        var middle = Median.Of(coreShares);
        runner.Add("median", MedianOf(watched, OwnCpuOf), PercentOf(middle), PercentOf(middle / Environment.ProcessorCount));
        runner.Write(output);
    }

    private static double? CpuOf(ContestResult result) => result.Costs.HandlerCpuMilliseconds.Value;

    private static double? OwnCpuOf(ContestResult result) => result.OwnCpu?.TotalMilliseconds;

    private static string MedianOf(List<ContestResult> results, Func<ContestResult, double?> figure) => Figures.Measured(Median.Of(results.Select(figure)));

    private static string PercentOf(double? share) => share is { } part ? $"{Figures.Measured(part * 100)} %" : Figures.None;
}
