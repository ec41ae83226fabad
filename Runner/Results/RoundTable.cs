namespace Kit.Runner.Results;

/// <summary>
/// The table of one cell's rounds, laid out like the benchmark of 2014: run, elapsed seconds, average, maximum, graph; then the
/// averages. Figures in brackets are not in the averages.
/// </summary>
internal static class RoundTable
{
    private static readonly IReadOnlyList<(string Header, Func<RoundDocument, double?> Of)> Measured =
    [
        ("Elapsed seconds", round => round.Throughput.ElapsedSeconds),
        ("Avg msg/s", round => round.Throughput.AveragePerSecond),
        ("Max msg/s", round => round.Throughput.MaximumInOneSecond),
    ];

    public static Table Of(CellResult result, Func<RoundDocument, string> graph) => new(
        [
            new("Run", IsFigure: false), .. Measured.Select(figure => new Column(figure.Header)), Column.OfMarkdown("Graph"),
        ],
        [
            .. result.Rounds.Select(round => (IReadOnlyList<string>)
            [
                LabelOf(round), .. Measured.Select(figure => Shown(result, round, figure.Of(round))),
                GraphScale.CanDraw(round) ? graph(round) : Figures.None,
            ]),
            [
                $"Average of {Figures.Plain(result.Counting.Count)}", .. Measured.Select(figure => Figures.Measured(result.MeanOf(figure.Of))), "",
            ],
        ])
    { Title = $"{result.Cell}" };

    private static string Shown(CellResult result, RoundDocument round, double? figure) =>
        figure is null || result.Counts(round) ? Figures.Measured(figure) : $"({Figures.Measured(figure)})";

    private static string LabelOf(RoundDocument round) =>
        Figures.Plain(round.Round) + (round.Attempt > 1 ? " again" : "") + (round.Noise.IsNoisy() ? " noisy" : "")
        + (round.Outcome.IsValid() ? "" : $" {round.Outcome}");
}
