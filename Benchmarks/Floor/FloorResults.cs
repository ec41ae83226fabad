using Kit.Runner.Results;

namespace Kit.Benchmarks.Floor;

/// <summary>The rounds of both contestants, and the tables over them.</summary>
internal sealed class FloorResults
{
    private readonly List<ContestResult> pgbench = [];
    private readonly List<ContestResult> endpoint = [];

    public bool AreValid => pgbench.Concat(endpoint).All(result => result.Outcome.IsValid());

    public void Add(string contestant, ContestResult result) => (contestant == "pgbench" ? pgbench : endpoint).Add(result);

    public void Write(TextWriter output)
    {
        var rates = new PlainTable(
            "Rates: both by the server's commit timestamps, first to last; pgbench's own tps; the endpoint's as 'run' reports it, from the first handler entry",
            "round", "pgbench tps", "endpoint msg/s", "pgbench commits/s", "endpoint commits/s", "endpoint/pgbench", "others");
        var ratios = pgbench.Zip(endpoint, (floor, bare) => bare.PerSecond / floor.PerSecond).ToList();
        for (var round = 0; round < pgbench.Count; round++)
        {
            var (floor, bare) = (pgbench[round], endpoint[round]);
            rates.Add(
                Figures.Plain(round + 1), Figures.Measured(floor.OwnPerSecond), Figures.Measured(bare.OwnPerSecond),
                Figures.Measured(floor.PerSecond), Figures.Measured(bare.PerSecond), ShareOf(ratios[round]), ContestLine.OthersOf(floor, bare));
        }

        rates.Add(
            "median", MedianOf(pgbench, result => result.OwnPerSecond), MedianOf(endpoint, result => result.OwnPerSecond),
            MedianOf(pgbench, result => result.PerSecond), MedianOf(endpoint, result => result.PerSecond), ShareOf(Median.Of(ratios)), "");
        rates.Write(output);

        var costs = new PlainTable("Cost of a message, medians", "", "pgbench", "endpoint");
        foreach (var (name, of) in new (string, Func<MessageCosts, Reading>)[]
                 {
                     ("commits", costs => costs.Commits), ("WAL flushes", costs => costs.WalFlushes), ("WAL bytes", costs => costs.WalBytes),
                     ("client CPU ms", costs => costs.HandlerCpuMilliseconds), ("server CPU ms", costs => costs.ServerCpuMilliseconds),
                 })
            costs.Add(name, MedianOf(pgbench, result => of(result.Costs).Value), MedianOf(endpoint, result => of(result.Costs).Value));
        costs.Write(output);
    }

    private static string MedianOf(List<ContestResult> results, Func<ContestResult, double?> figure) =>
        Figures.Measured(Median.Of(results.Where(result => result.Outcome.IsValid()).Select(figure)));

    private static string ShareOf(double? share) => share is { } ratio ? Figures.Share(ratio) : Figures.None;
}
