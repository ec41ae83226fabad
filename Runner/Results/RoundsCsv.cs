using System.Globalization;

namespace Kit.Runner.Results;

/// <summary>
/// One line per attempt at a round, including failed ones, for other tools: invariant culture, figures in full, an empty field for an
/// unknown value. A column for each axis of the cells comes first. <c>results/README.md</c> and <c>docs/reference/measuring.md</c> explain each column.
/// </summary>
public static class RoundsCsv
{
    private static IReadOnlyList<(string Name, Func<RoundDocument, object?> Value)> ColumnsOf(Func<RoundDocument, bool> counts) =>
    [
        ("round", round => round.Round),
        ("attempt", round => round.Attempt),
        ("outcome", round => round.Outcome),
        ("counts", round => counts(round) ? "yes" : "no"),
        ("reasons", round => string.Join("; ", round.Outcome.Reasons)),
        ("noisy", round => round.Noise.IsNoisy() ? "yes" : "no"),
        ("other_cpu_share", round => round.Noise.OtherCpuShare.Value),
        ("busiest_other_process", round => round.Noise.BusiestProcess),
        ("flush_ratio", round => round.Noise.FlushRatio),
        ("messages", round => round.Messages),
        ("concurrency", round => round.Concurrency),
        ("committed", round => round.Throughput.Committed),
        ("elapsed_seconds", round => round.Throughput.ElapsedSeconds),
        ("average_per_second", round => round.Throughput.AveragePerSecond),
        ("first_tenth_per_second", round => round.Throughput.FirstTenthPerSecond),
        ("middle_half_per_second", round => round.Throughput.MiddleHalfPerSecond),
        ("last_tenth_per_second", round => round.Throughput.LastTenthPerSecond),
        ("maximum_in_one_second", round => round.Throughput.MaximumInOneSecond),
        ("cold_per_second", round => round.ColdPerSecond),
        ("restore_seconds", round => round.RestoreSeconds),
        ("preload_seconds", round => round.PreloadSeconds),
        ("first_handler_entry_utc", round => round.FirstHandlerEntryUtc?.UtcDateTime.ToString("O", CultureInfo.InvariantCulture)),
        ("clock", round => NameOf(round.Clock)),
        ("commits_per_message", round => round.Costs.Commits.Value),
        ("wal_flushes_per_message", round => round.Costs.WalFlushes.Value),
        ("wal_bytes_per_message", round => round.Costs.WalBytes.Value),
        ("two_phase_commits_per_message", round => round.Costs.TwoPhaseCommits.Value),
        ("buffers_per_message", round => round.Costs.Buffers?.Value),
        ("handler_cpu_ms_per_message", round => round.Costs.HandlerCpuMilliseconds.Value),
        ("server_cpu_ms_per_message", round => round.Costs.ServerCpuMilliseconds.Value),
        ("batch_p50_ms", round => round.Batch?.P50Milliseconds),
        ("batch_p99_ms", round => round.Batch?.P99Milliseconds),
        ("round_trip_mean_ms", round => round.Network?.Trip.MeanMilliseconds),
        ("round_trip_p99_ms", round => round.Network?.Trip.P99Milliseconds),
        ("sql_statements_per_message", round => round.Network?.SqlStatements.Value),
        ("sql_round_trips_per_message", round => round.Network?.SqlRoundTrips.Value),
        ("sql_connections", round => round.Network?.SqlConnections),
        ("not_measured", round => NotMeasured(round)),
        .. DurationsOf("second_phase", round => round.SecondPhase),
        ("second_phase_count", round => round.SecondPhase?.Count),
        .. DurationsOf("receive", round => round.ServiceTime?.Receive),
        .. DurationsOf("handler", round => round.ServiceTime?.Handler),
        .. DurationsOf("commit", round => round.ServiceTime?.Commit),
        ("handled_by_each", round => round.HandledByEach is { } each ? string.Join("; ", each.Select(Figures.Plain)) : null),
        ("handled", round => round.Handled),
        ("handler_entries", round => round.HandlerEntries),
        ("retries", round => round.Retries),
        .. CellsCsv.ClassesOf<RoundDocument>(round => round.Accounts),
    ];

    /// <summary>The columns after the axes.</summary>
    public static IEnumerable<string> Columns => ColumnsOf(_ => true).Select(column => column.Name);

    public static void Write(RecordedRun run, TextWriter output)
    {
        var counting = run.Cells.SelectMany(cell => cell.Counting).ToHashSet(ReferenceEqualityComparer.Instance);
        CellsCsv.Write(
            run.Cells.Select(cell => cell.Cell), run.Document.Implied, ColumnsOf(counting.Contains),
            run.Cells.SelectMany(cell => cell.Rounds, (cell, round) => (cell.Cell, round)), output);
    }

    private static IEnumerable<(string Name, Func<RoundDocument, object?> Value)> DurationsOf(string phase, Func<RoundDocument, Durations?> measured) =>
    [
        ($"{phase}_mean_ms", round => measured(round)?.MeanMilliseconds),
        ($"{phase}_p50_ms", round => measured(round)?.P50Milliseconds),
        ($"{phase}_p95_ms", round => measured(round)?.P95Milliseconds),
        ($"{phase}_p99_ms", round => measured(round)?.P99Milliseconds),
        ($"{phase}_max_ms", round => measured(round)?.MaxMilliseconds),
    ];

    private static string NotMeasured(RoundDocument round) =>
        string.Join(
            "; ",
            round.Costs.Named().Where(cost => cost.Reading.Value is null).Select(cost => $"{cost.Name}: {cost.Reading.Because}"));

    private static string NameOf(ClockSource clock) => clock is ClockSource.CommitTimestamps ? "commit timestamps" : "handler completions";
}
