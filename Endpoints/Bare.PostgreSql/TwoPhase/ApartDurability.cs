using Microsoft.Extensions.Logging;
using Npgsql;

namespace Kit.Endpoints.Bare.PostgreSql.TwoPhase;

/// <summary>
/// Whether one of several servers keeps, through a crash and a failover, what it has promised. What it lacks refuses the start, and is reported while the
/// endpoint runs.
/// </summary>
/// <param name="endpoint">The endpoint.</param>
/// <param name="of">What it has there.</param>
/// <param name="source">The database.</param>
internal sealed partial class ApartDurability(TwoPhaseEndpoint endpoint, string of, NpgsqlDataSource source)
{
    // Not standbys: a subscriber, which reads from a logical slot, and a base backup with its own stream of the log. A role without pg_read_all_stats sees no
    // sync_state, but the pid, the slots and the setting, which says for how many a commit waits: for 1 if it names no number. That one may be a subscriber.
    private const string Read =
        """
        WITH receiver AS (
            SELECT sync_state,
                NOT EXISTS (SELECT FROM pg_stat_progress_basebackup AS backup WHERE backup.pid = receiver.pid)
                AND NOT EXISTS (
                    SELECT FROM pg_replication_slots
                    WHERE active_pid = receiver.pid AND (slot_type = 'logical' OR starts_with(slot_name, 'pg_basebackup_'))) AS is_standby
            FROM pg_stat_replication AS receiver)
        SELECT current_setting('synchronous_commit'), current_setting('fsync'), greatest(
            count(*) FILTER (WHERE is_standby AND sync_state IN ('async', 'potential')),
            count(*) FILTER (WHERE is_standby OR sync_state IN ('sync', 'quorum')) - CASE
                WHEN current_setting('synchronous_standby_names') = '' THEN 0
                ELSE coalesce((regexp_match(current_setting('synchronous_standby_names'), '^\s*(?:first|any)?\s*(\d+)\s*\(', 'i'))[1]::bigint, 1)
            END)
        FROM receiver
        """;

    /// <summary>What the last look has found; <see langword="null"/> if nothing is missing.</summary>
    public string? Missing { get; private set; }

    /// <summary>Looks again, and logs what has begun to be missing.</summary>
    /// <exception cref="NpgsqlException">The database cannot be reached.</exception>
    public async Task LookAsync(CancellationToken cancellationToken)
    {
        var (before, missing) = (Missing, await FindAsync(cancellationToken));
        // First: whoever reads the log and then asks the health check gets the same answer.
        Missing = missing;
        if (missing is not null && missing != before)
            LogMissing(endpoint.Log, endpoint.Name, missing);
    }

    /// <returns>What is missing, and the remedy; <see langword="null"/> if nothing is.</returns>
    /// <exception cref="NpgsqlException">The database cannot be reached.</exception>
    public async Task<string?> FindAsync(CancellationToken cancellationToken)
    {
        await using var command = source.CreateCommand(Read);
        await using var found = await command.ExecuteReaderAsync(cancellationToken);
        await found.ReadAsync(cancellationToken);
        var (setting, fsync, standbys) = (found.GetString(0), found.GetString(1), found.GetInt64(2));
        if (setting is "off" or "local")
        {
            return $"with synchronous_commit = {setting} in the database of {of}: another server would keep what this one loses. Set it to on for this " +
                "role, database or server";
        }

        if (fsync == "off")
            return $"with fsync = off on the server of {of}: another server would keep what this one loses or damages. Set it to on";
        if (standbys == 0 || endpoint.AcceptsAsynchronousStandbys)
            return null;

        return $"while the server of {of} does not wait for {standbys} of the standbys that it sends its log to (synchronous_standby_names): one that is " +
            "promoted lacks the last commits, which another server has, so that messages would be lost or doubled. Let it wait for each that may be " +
            "promoted, as 'FIRST 2 (a, b)' waits for two, " +
            $"or {endpoint.HowToAccept} if none ever is, or if you accept that";
    }

    [LoggerMessage(Level = LogLevel.Error, Message = "Endpoint '{Endpoint}' runs, but would not start {Missing}.")]
    private static partial void LogMissing(ILogger log, string endpoint, string missing);
}
