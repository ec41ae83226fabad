using System.Globalization;
using CsvHelper;
using Kit.Guarantees;

namespace Kit.Runner.Results;

/// <summary>
/// One line per attempt at a round, including failed ones, for other tools: invariant culture, figures in full, an empty field for an
/// unknown value. A column for each axis of the cells comes first. <c>results/README.md</c> and <c>docs/reference/measuring.md</c> explain each column.
/// </summary>
public static class RoundsCsv
{
    private static readonly IReadOnlyList<Column> All =
    [
        new("round", (_, round) => round.Round),
        new("attempt", (_, round) => round.Attempt),
        new("outcome", (_, round) => round.Outcome),
        new("counts", (result, round) => result.Counts(round) ? "yes" : "no"),
        new("reasons", (_, round) => string.Join("; ", round.Outcome.Reasons)),
        new("noisy", (_, round) => round.Noise.IsNoisy() ? "yes" : "no"),
        new("other_cpu_share", (_, round) => round.Noise.OtherCpuShare.Value),
        new("busiest_other_process", (_, round) => round.Noise.BusiestProcess),
        new("flush_ratio", (_, round) => round.Noise.FlushRatio),
        new("messages", (_, round) => round.Messages),
        new("concurrency", (_, round) => round.Concurrency),
        new("committed", (_, round) => round.Throughput.Committed),
        new("elapsed_seconds", (_, round) => round.Throughput.ElapsedSeconds),
        new("average_per_second", (_, round) => round.Throughput.AveragePerSecond),
        new("first_tenth_per_second", (_, round) => round.Throughput.FirstTenthPerSecond),
        new("middle_half_per_second", (_, round) => round.Throughput.MiddleHalfPerSecond),
        new("last_tenth_per_second", (_, round) => round.Throughput.LastTenthPerSecond),
        new("maximum_in_one_second", (_, round) => round.Throughput.MaximumInOneSecond),
        new("cold_per_second", (_, round) => round.ColdPerSecond),
        new("restore_seconds", (_, round) => round.RestoreSeconds),
        new("preload_seconds", (_, round) => round.PreloadSeconds),
        new("first_handler_entry_utc", (_, round) => round.FirstHandlerEntryUtc?.UtcDateTime.ToString("O", CultureInfo.InvariantCulture)),
        new("clock", (_, round) => NameOf(round.Clock)),
        new("commits_per_message", (_, round) => round.Costs.Commits.Value),
        new("wal_flushes_per_message", (_, round) => round.Costs.WalFlushes.Value),
        new("wal_bytes_per_message", (_, round) => round.Costs.WalBytes.Value),
        new("two_phase_commits_per_message", (_, round) => round.Costs.TwoPhaseCommits.Value),
        new("buffers_per_message", (_, round) => round.Costs.Buffers?.Value),
        new("handler_cpu_ms_per_message", (_, round) => round.Costs.HandlerCpuMilliseconds.Value),
        new("server_cpu_ms_per_message", (_, round) => round.Costs.ServerCpuMilliseconds.Value),
        new("batch_p50_ms", (_, round) => round.Batch?.P50Milliseconds),
        new("batch_p99_ms", (_, round) => round.Batch?.P99Milliseconds),
        new("round_trip_mean_ms", (_, round) => round.Network?.Trip.MeanMilliseconds),
        new("round_trip_p99_ms", (_, round) => round.Network?.Trip.P99Milliseconds),
        new("sql_statements_per_message", (_, round) => round.Network?.SqlStatements.Value),
        new("sql_round_trips_per_message", (_, round) => round.Network?.SqlRoundTrips.Value),
        new("sql_connections", (_, round) => round.Network?.SqlConnections),
        new("not_measured", (_, round) => NotMeasured(round)),
        .. DurationsOf("second_phase", round => round.SecondPhase),
        new("second_phase_count", (_, round) => round.SecondPhase?.Count),
        .. DurationsOf("receive", round => round.ServiceTime?.Receive),
        .. DurationsOf("handler", round => round.ServiceTime?.Handler),
        .. DurationsOf("commit", round => round.ServiceTime?.Commit),
        new("handled_by_each", (_, round) => round.HandledByEach is { } each ? string.Join("; ", each.Select(Figures.Plain)) : null),
        new("handled", (_, round) => round.Handled),
        new("handler_entries", (_, round) => round.HandlerEntries),
        new("retries", (_, round) => round.Retries),
        .. Enum.GetValues<DeliveryClass>().Select(kind => new Column(Words.ColumnOf(kind), (_, round) => CountOf(round, kind))),
    ];

    /// <summary>The columns after the axes.</summary>
    public static IEnumerable<string> Columns => All.Select(column => column.Name);

    public static void Write(RecordedRun run, TextWriter output)
    {
        using var csv = CsvWriter.Create(output, new CsvWriterOptions { NewLine = "\n" }, leaveOpen: true);
        var axes = CellName.AxesOf(run.Cells.Select(result => result.Cell));
        csv.WriteHeader([.. axes, .. Columns]);
        foreach (var result in run.Cells)
        {
            foreach (var round in result.Rounds)
            {
                csv.WriteRecord(
                [
                    .. axes.Select(axis => result.Cell.On(axis, run.Document.Implied)),
                    .. All.Select(column => Convert.ToString(column.Value(result, round), CultureInfo.InvariantCulture)),
                ]);
            }
        }
    }

    private static IEnumerable<Column> DurationsOf(string phase, Func<RoundDocument, Durations?> measured) =>
    [
        new($"{phase}_mean_ms", (_, round) => measured(round)?.MeanMilliseconds),
        new($"{phase}_p50_ms", (_, round) => measured(round)?.P50Milliseconds),
        new($"{phase}_p95_ms", (_, round) => measured(round)?.P95Milliseconds),
        new($"{phase}_p99_ms", (_, round) => measured(round)?.P99Milliseconds),
        new($"{phase}_max_ms", (_, round) => measured(round)?.MaxMilliseconds),
    ];

    private static int? CountOf(RoundDocument round, DeliveryClass kind) => round.Accounts.TryGetValue(kind, out var count) ? count : null;

    private static string NotMeasured(RoundDocument round) =>
        string.Join(
            "; ",
            round.Costs.Named().Where(cost => cost.Reading.Value is null).Select(cost => $"{cost.Name}: {cost.Reading.Because}"));

    private static string NameOf(ClockSource clock) => clock is ClockSource.CommitTimestamps ? "commit timestamps" : "handler completions";

    private sealed record Column(string Name, Func<CellResult, RoundDocument, object?> Value);
}
