namespace Kit.Runner.Results;

/// <summary>A row for each cell: the time of a worker for a message, phase by phase.</summary>
internal static class ServiceTimeTable
{
    public const string Title = "Service time";

    public const string Legend = $"Milliseconds that a worker was busy with a message, as the endpoint's own metrics say: p50/p95/p99/max. {Meaning}";

    public const string ShortLegend = $"Milliseconds that a worker was busy with a message, as the endpoint's own metrics say: p50/p99. {Meaning}";

    private const string Meaning =
        "The p50 is the mean of the rounds' p50, the others are the highest of any counting round. A phase is measured once for each attempt, or once " +
        "for each batch; – has no instrument. This is service time, not latency under load: how long a message waited in its queue is not in it.";

    public static IReadOnlyList<SummaryColumn> Columns { get; } = Of(durations =>
    [
        durations.Average(each => each.P50Milliseconds),
        durations.Max(each => each.P95Milliseconds),
        durations.Max(each => each.P99Milliseconds),
        durations.Max(each => each.MaxMilliseconds),
    ]);

    /// <summary>Columns for a terminal, which has no room for four figures.</summary>
    public static IReadOnlyList<SummaryColumn> ShortColumns { get; } =
        Of(durations => [durations.Average(each => each.P50Milliseconds), durations.Max(each => each.P99Milliseconds)]);

    /// <summary>True if the run has such times, which runs of earlier versions do not have.</summary>
    public static bool IsIn(RecordedRun run) => run.Rounds.Any(round => round.ServiceTime is not null);

    // A mean of high percentiles would hide the round with the longest times.
    private static IReadOnlyList<SummaryColumn> Of(Func<IReadOnlyList<Durations>, IEnumerable<double?>> figures)
    {
        return
        [
            ColumnOf("Receive ms", round => round.ServiceTime?.Receive),
            ColumnOf("Handler ms", round => round.ServiceTime?.Handler),
            ColumnOf("Commit ms", round => round.ServiceTime?.Commit),
            ColumnOf("2nd phase ms", round => round.SecondPhase),
        ];

        SummaryColumn ColumnOf(string header, Func<RoundDocument, Durations?> measured) => new(header, (_, cell) =>
            cell.Counting.Select(measured).OfType<Durations>().ToList() is { Count: > 0 } durations
                ? string.Join('/', figures(durations).Select(Figures.Measured))
                : Figures.None);
    }
}
