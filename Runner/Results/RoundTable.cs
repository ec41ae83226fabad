namespace Kit.Runner.Results;

/// <summary>
/// The table of one cell's rounds, laid out like the benchmark of 2014: run, elapsed seconds, average, maximum, graph; then the
/// averages. Figures in brackets are not in the averages.
/// </summary>
internal static class RoundTable
{
    public const string Run = "Run";
    public const string Graph = "Graph";

    public static IReadOnlyList<string> Headers { get; } = [Run, "Elapsed seconds", "Avg msg/s", "Max msg/s", Graph];

    public static IEnumerable<IReadOnlyList<string>> Rows(CellResult result, Func<RoundDocument, string> graph) =>
        result.Rounds.Select(round => RowOf(result, round, graph)).Append(AveragesOf(result));

    private static IReadOnlyList<string> RowOf(CellResult result, RoundDocument round, Func<RoundDocument, string> graph)
    {
        var throughput = round.Throughput;
        string Shown(double? figure) => figure is null || result.Counts(round) ? Figures.Measured(figure) : $"({Figures.Measured(figure)})";
        return
        [
            LabelOf(round),
            Shown(throughput.ElapsedSeconds),
            Shown(throughput.AveragePerSecond),
            Shown(throughput.MaximumInOneSecond),
            GraphScale.CanDraw(round) ? graph(round) : Figures.None,
        ];
    }

    private static string LabelOf(RoundDocument round)
    {
        var label = Figures.Plain(round.Round);
        if (round.Attempt > 1)
            label += " again";
        if (round.Noise.IsNoisy())
            label += " noisy";
        return round.Outcome.IsValid() ? label : $"{label} {round.Outcome}";
    }

    private static IReadOnlyList<string> AveragesOf(CellResult result) =>
    [
        $"Average of {Figures.Plain(result.Counting.Count)}",
        Figures.Measured(result.MeanOf(round => round.Throughput.ElapsedSeconds)),
        Figures.Measured(result.MeanOf(round => round.Throughput.AveragePerSecond)),
        Figures.Measured(result.MeanOf(round => round.Throughput.MaximumInOneSecond)),
        "",
    ];
}
