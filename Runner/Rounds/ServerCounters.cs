using Kit.Runner.Results;
using Npgsql;

namespace Kit.Runner.Rounds;

/// <summary>What the database server has counted so far; the difference of two readings is the cost of a drain.</summary>
/// <param name="Commits">Committed transactions of the round's databases, from <c>pg_stat_database</c>.</param>
/// <param name="WalFlushes">Times the log was forced to disk: <c>pg_stat_wal.wal_sync</c>, from version 18 <c>pg_stat_io</c>.</param>
/// <param name="WalPosition">Where the log ends.</param>
internal sealed record ServerCounters(long Commits, long? WalFlushes, NpgsqlTypes.NpgsqlLogSequenceNumber WalPosition)
{
    private static readonly TimeSpan ForSessionsToEnd = TimeSpan.FromSeconds(3);

    /// <summary>Reads when no session is left in the databases: sessions report what they counted at the latest when they end.</summary>
    public static async Task<ServerCounters> ReadAsync(NpgsqlConnection server, IReadOnlyList<string> databases, CancellationToken cancellationToken)
    {
        var deadline = DateTime.UtcNow + ForSessionsToEnd;
        while (DateTime.UtcNow < deadline && await ScalarAsync<long>(
                   server, "SELECT count(*) FROM pg_stat_activity WHERE datname = ANY($1) AND backend_type = 'client backend'", databases, cancellationToken) > 0)
            await Task.Delay(20, cancellationToken);

        var flushes = server.PostgreSqlVersion.Major switch
        {
            >= 18 => "SELECT sum(fsyncs)::bigint FROM pg_stat_io WHERE object = 'wal'",
            >= 14 => "SELECT wal_sync FROM pg_stat_wal",
            _ => null,
        };
        return new ServerCounters(
            await ScalarAsync<long>(server, "SELECT coalesce(sum(xact_commit), 0)::bigint FROM pg_stat_database WHERE datname = ANY($1)", databases, cancellationToken),
            flushes is null ? null : await ScalarAsync<long>(server, flushes, databases: null, cancellationToken),
            await ScalarAsync<NpgsqlTypes.NpgsqlLogSequenceNumber>(server, "SELECT pg_current_wal_flush_lsn()", databases: null, cancellationToken));
    }

    /// <summary>Counts <c>COMMIT PREPARED</c> where it cannot lie: in the log itself, between two readings.</summary>
    public static async Task<Reading> TwoPhaseCommitsAsync(NpgsqlConnection server, ServerCounters before, ServerCounters after, CancellationToken cancellationToken)
    {
        try
        {
            await using var extension = new NpgsqlCommand("CREATE EXTENSION IF NOT EXISTS pg_walinspect", server);
            await extension.ExecuteNonQueryAsync(cancellationToken);
            await using var count = new NpgsqlCommand(
                """
                SELECT coalesce(sum(count), 0)::bigint FROM pg_get_wal_stats($1::text::pg_lsn, $2::text::pg_lsn, per_record => true)
                WHERE "resource_manager/record_type" = 'Transaction/COMMIT_PREPARED'
                """,
                server);
            count.Parameters.Add(new NpgsqlParameter<string> { TypedValue = before.WalPosition.ToString() });
            count.Parameters.Add(new NpgsqlParameter<string> { TypedValue = after.WalPosition.ToString() });
            return Reading.Of((long)(await count.ExecuteScalarAsync(cancellationToken))!);
        }
        catch (PostgresException refused)
        {
            return Reading.Missing($"the server's log cannot be read: {refused.MessageText}");
        }
    }

    private static async Task<T> ScalarAsync<T>(NpgsqlConnection server, string query, IReadOnlyList<string>? databases, CancellationToken cancellationToken)
    {
        await using var command = new NpgsqlCommand(query, server);
        if (databases is not null)
            command.Parameters.Add(new NpgsqlParameter<string[]> { TypedValue = [.. databases] });

        return (T)(await command.ExecuteScalarAsync(cancellationToken))!;
    }
}
