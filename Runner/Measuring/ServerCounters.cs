using System.Diagnostics;
using Kit.Runner.Results;
using Npgsql;
using NpgsqlTypes;

namespace Kit.Runner.Measuring;

/// <summary>The database server's counters; the difference between two readings is the cost of a drain.</summary>
/// <param name="Commits">Committed transactions of the round's databases, from <c>pg_stat_database</c>.</param>
/// <param name="Buffers">Buffer accesses (hits and reads) in the round's databases, including autovacuum's, from <c>pg_stat_database</c>.</param>
/// <param name="WalFlushes">Times the log was forced to disk: <c>pg_stat_wal.wal_sync</c>, from version 18 <c>pg_stat_io</c>. Of the whole server.</param>
/// <param name="WalPosition">End of the log. Of the whole server.</param>
/// <param name="IsSettled">True if every session in the round's databases had ended, and so reported its counters.</param>
internal sealed record ServerCounters(long Commits, long Buffers, Reading WalFlushes, NpgsqlLogSequenceNumber WalPosition, bool IsSettled)
{
    private static readonly TimeSpan ForSessionsToEnd = TimeSpan.FromSeconds(20);

    private static readonly Reading Unsettled = Reading.Missing("sessions were still open when the counters were read, such as those of a monitor");

    /// <summary>Flushes and log of a server that the kit has not started.</summary>
    public static Reading OfAllClients { get; } = Reading.Missing("the server is not the kit's own: it counts the work of all its clients");

    /// <summary>Reads the counters when no session is left in the databases, or after 20 s.</summary>
    /// <param name="idle">Process ids of sessions that stay and do nothing.</param>
    public static async Task<ServerCounters> ReadAsync(
        NpgsqlConnection server, IReadOnlyList<string> databases, CancellationToken cancellationToken, params int[] idle)
    {
        var watch = Stopwatch.StartNew();
        while (await CountSessionsAsync(server, databases, idle, cancellationToken) > 0 && watch.Elapsed < ForSessionsToEnd)
            await Task.Delay(20, cancellationToken);

        var (commits, buffers) = await ReadDatabasesAsync(server, databases, cancellationToken);
        return new ServerCounters(
            commits,
            buffers,
            await ReadFlushesAsync(server, cancellationToken),
            await ScalarAsync<NpgsqlLogSequenceNumber>(server, "SELECT pg_current_wal_flush_lsn()", [], cancellationToken),
            await CountSessionsAsync(server, databases, idle, cancellationToken) == 0);
    }

    /// <summary>The counters of the queue's server, if that is another. They are added to those of this one.</summary>
    public ServerCounters? Apart { get; init; }

    public Reading CommitsSince(ServerCounters before) =>
        Sum(before, static (now, then) => now.IsSettled && then.IsSettled ? Reading.Of(now.Commits - then.Commits) : Unsettled);

    public Reading BuffersSince(ServerCounters before) =>
        Sum(before, static (now, then) => now.IsSettled && then.IsSettled ? Reading.Of(now.Buffers - then.Buffers) : Unsettled);

    public Reading FlushesSince(ServerCounters before) => Sum(before, static (now, then) => (now.WalFlushes, then.WalFlushes) switch
    {
        ({ Value: { } last }, { Value: { } first }) => now.IsSettled && then.IsSettled ? Reading.Of(last - first) : Unsettled,
        (_, { Value: null } missing) => missing,
        _ => now.WalFlushes,
    });

    public Reading WalBytesSince(ServerCounters before) =>
        Sum(before, static (now, then) => Reading.Of((double)(ulong)now.WalPosition - (ulong)then.WalPosition));

    /// <summary>Counts <c>COMMIT PREPARED</c> in the log of the widgets' server itself, between two readings.</summary>
    /// <param name="database">Connection string of a database of the kit's own: the extension that reads the log is created there.</param>
    public async Task<Reading> TwoPhaseCommitsSinceAsync(ServerCounters before, string database, CancellationToken cancellationToken)
    {
        try
        {
            await using var source = NpgsqlDataSource.Create(database);
            await using var extension = source.CreateCommand("CREATE EXTENSION IF NOT EXISTS pg_walinspect");
            await extension.ExecuteNonQueryAsync(cancellationToken);
            await using var count = source.CreateCommand(
                """
                SELECT coalesce(sum(count), 0)::bigint FROM pg_get_wal_stats($1::text::pg_lsn, $2::text::pg_lsn, per_record => true)
                WHERE "resource_manager/record_type" = 'Transaction/COMMIT_PREPARED'
                """);
            count.Parameters.Add(new NpgsqlParameter<string> { TypedValue = before.WalPosition.ToString() });
            count.Parameters.Add(new NpgsqlParameter<string> { TypedValue = WalPosition.ToString() });
            return Reading.Of((long)(await count.ExecuteScalarAsync(cancellationToken))!);
        }
        catch (PostgresException refused)
        {
            return Reading.Missing($"the server's log cannot be read: {refused.MessageText}");
        }
    }

    private Reading Sum(ServerCounters before, Func<ServerCounters, ServerCounters, Reading> since) =>
        (since(this, before), (Apart, before.Apart) switch
        {
            (null, null) => Reading.Of(0),
            ({ } now, { } then) => since(now, then),
            _ => throw new InvalidOperationException("Only one of two readings has the queue's server."),
        }) switch
        {
            ({ Value: { } here }, { Value: { } apart }) => Reading.Of(here + apart),
            ({ Value: null } missing, _) => missing,
            (_, var missing) => missing,
        };

    private static async Task<(long Commits, long Buffers)> ReadDatabasesAsync(
        NpgsqlConnection server, IReadOnlyList<string> databases, CancellationToken cancellationToken)
    {
        await using var command = new NpgsqlCommand(
            "SELECT coalesce(sum(xact_commit), 0)::bigint, coalesce(sum(blks_hit + blks_read), 0)::bigint FROM pg_stat_database WHERE datname = ANY($1)",
            server);
        command.Parameters.Add(new NpgsqlParameter<string[]> { TypedValue = [.. databases] });
        await using var reader = await command.ExecuteReaderAsync(cancellationToken);
        await reader.ReadAsync(cancellationToken);
        return (reader.GetInt64(0), reader.GetInt64(1));
    }

    private static Task<long> CountSessionsAsync(
        NpgsqlConnection server, IReadOnlyList<string> databases, int[] idle, CancellationToken cancellationToken) =>
        ScalarAsync<long>(
            server,
            "SELECT count(*) FROM pg_stat_activity WHERE datname = ANY($1) AND backend_type = 'client backend' AND pid <> ALL($2)",
            [new NpgsqlParameter<string[]> { TypedValue = [.. databases] }, new NpgsqlParameter<int[]> { TypedValue = idle }],
            cancellationToken);

    private static async Task<Reading> ReadFlushesAsync(NpgsqlConnection server, CancellationToken cancellationToken)
    {
        if (server.PostgreSqlVersion.Major < 14)
            return Reading.Missing("counted from PostgreSQL 14 on");

        // With open_datasync and open_sync each write is its own flush, and the server does not count it.
        var method = await ScalarAsync<string>(server, "SHOW wal_sync_method", [], cancellationToken);
        if (method.StartsWith("open_", StringComparison.Ordinal))
            return Reading.Missing($"not counted by the server under wal_sync_method {method}");

        return Reading.Of(await ScalarAsync<long>(
            server,
            server.PostgreSqlVersion.Major >= 18 ? "SELECT sum(fsyncs)::bigint FROM pg_stat_io WHERE object = 'wal'" : "SELECT wal_sync FROM pg_stat_wal",
            [],
            cancellationToken));
    }

    private static async Task<T> ScalarAsync<T>(
        NpgsqlConnection server, string query, IEnumerable<NpgsqlParameter> parameters, CancellationToken cancellationToken)
    {
        await using var command = new NpgsqlCommand(query, server);
        foreach (var parameter in parameters)
            command.Parameters.Add(parameter);
        return (T)(await command.ExecuteScalarAsync(cancellationToken))!;
    }
}
