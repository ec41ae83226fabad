namespace Kit.Runner.Results;

/// <summary>A row for each cell: the time of a worker for a message, phase by phase.</summary>
internal static class ServiceTimeTable
{
    public const string Title = "Service time";

    private const string Legend = $"Milliseconds that a worker was busy with a message, as the endpoint's own metrics say: p50/p95/p99/max. {Meaning}";

    private const string ShortLegend = $"Milliseconds that a worker was busy with a message, as the endpoint's own metrics say: p50/p99. {Meaning}";

    private const string Meaning =
        "The p50 is the mean of the rounds' p50, the others are the highest of any counting round. A phase is measured once for each attempt, or once " +
        "for each batch; – has no instrument. This is service time, not latency under load: how long a message waited in its queue is not in it.";

    public static Table Of(RecordedRun run) => SummaryTable.Of(run, Columns) with { Title = Title, Legend = Legend };

    /// <summary>The table for a terminal, which has no room for four figures.</summary>
    public static Table ShortOf(RecordedRun run) => SummaryTable.Of(run, ShortColumns) with { Title = Title, Legend = ShortLegend };

    private static readonly IReadOnlyList<SummaryColumn> Columns =
        ColumnsOf(each => each.P95Milliseconds, each => each.P99Milliseconds, each => each.MaxMilliseconds);

    private static readonly IReadOnlyList<SummaryColumn> ShortColumns = ColumnsOf(each => each.P99Milliseconds);

    /// <summary>True if the run has such times, which runs of earlier versions do not have.</summary>
    public static bool IsIn(RecordedRun run) => run.Rounds.Any(round => round.ServiceTime is not null);

    private static IReadOnlyList<SummaryColumn> ColumnsOf(params IReadOnlyList<Func<Durations, double?>> others) =>
    [
        new("Receive ms", (_, cell) => SummaryTable.DurationsOf(cell, round => round.ServiceTime?.Receive, others)),
        new("Handler ms", (_, cell) => SummaryTable.DurationsOf(cell, round => round.ServiceTime?.Handler, others)),
        new("Commit ms", (_, cell) => SummaryTable.DurationsOf(cell, round => round.ServiceTime?.Commit, others)),
        new("2nd phase ms", (_, cell) => SummaryTable.DurationsOf(cell, round => round.SecondPhase, others)),
    ];
}
