using Kit.Handlers;
using Kit.Runner.Results.Accounts;
using Npgsql;

namespace Kit.Runner.Stage.Databases;

/// <summary>A widget row that a message built.</summary>
/// <param name="Committed">Commit time of its transaction, by the server's clock; <see langword="null"/> if the server does not record it.</param>
internal sealed record BuiltWidget(long Id, Guid MessageId, DateTimeOffset? Committed);

/// <summary>The widgets of one round, in the database.</summary>
internal sealed class WidgetTable(string widgets) : IAsyncDisposable
{
    /// <summary>Number of rows.</summary>
    internal const string Count = "SELECT count(*) FROM widget";

    /// <summary>At most so many seeded rows, the same number of rows apart.</summary>
    private const string ReadSeeded =
        """
        SELECT id, message_id
        FROM (SELECT id, message_id, row_number() OVER (ORDER BY id) - 1 AS place, count(*) OVER () AS rows FROM widget WHERE message_id <= $1) AS seeded
        WHERE place % greatest(1, (rows + $2 - 1) / $2) = 0
        ORDER BY id
        """;

    /// <summary>The transactions that are prepared in some databases.</summary>
    internal const string ReadPrepared = "SELECT gid, transaction::text::bigint FROM pg_prepared_xacts WHERE database = ANY($1)";

    private readonly NpgsqlDataSource source = NpgsqlDataSource.Create(EndpointConnections.ForRunner(widgets));

    public Task<long> CountAsync(CancellationToken cancellationToken) => ScalarAsync<long>(Count, cancellationToken);

    /// <summary>The rows that are not seeded.</summary>
    internal static string ReadBuilt(bool withCommitTime) =>
        $"SELECT id, message_id, {(withCommitTime ? "pg_xact_commit_timestamp(xmin)" : "NULL::timestamptz")} FROM widget WHERE message_id > $1";

    /// <summary>Runs statements, for as long as they take.</summary>
    public async Task ExecuteAsync(string statements, CancellationToken cancellationToken)
    {
        await using var command = source.CreateCommand(statements);
        command.CommandTimeout = 0;
        await command.ExecuteNonQueryAsync(cancellationToken);
    }

    /// <summary>The single value that a query returns.</summary>
    public async Task<T> ScalarAsync<T>(string query, CancellationToken cancellationToken)
    {
        await using var command = source.CreateCommand(query);
        return (T)(await command.ExecuteScalarAsync(cancellationToken))!;
    }

    /// <summary>Some of the seeded rows, from all over the table.</summary>
    public Task<IReadOnlyList<Widget>> ReadSeededAsync(int most, CancellationToken cancellationToken) =>
        ReadAsync(
            ReadSeeded,
            [new NpgsqlParameter<Guid> { TypedValue = KitDatabases.LastSeeded }, new NpgsqlParameter<long> { TypedValue = most }],
            row => new Widget(row.GetInt64(0), row.GetGuid(1)),
            cancellationToken);

    /// <summary>All rows that are not seeded.</summary>
    public Task<IReadOnlyList<BuiltWidget>> ReadBuiltAsync(bool withCommitTime, CancellationToken cancellationToken) =>
        ReadAsync(
            ReadBuilt(withCommitTime),
            [new NpgsqlParameter<Guid> { TypedValue = KitDatabases.LastSeeded }],
            row => new BuiltWidget(row.GetInt64(0), row.GetGuid(1), row.IsDBNull(2) ? null : row.GetFieldValue<DateTimeOffset>(2)),
            cancellationToken);

    /// <summary>Prepared transactions left in the databases of the round.</summary>
    public Task<IReadOnlyList<PreparedTransaction>> ReadPreparedAsync(IReadOnlyList<string> databases, CancellationToken cancellationToken) =>
        ReadAsync(
            ReadPrepared,
            [new NpgsqlParameter<string[]> { TypedValue = [.. databases] }],
            row => new PreparedTransaction(row.GetString(0), (uint)row.GetInt64(1)),
            cancellationToken);

    /// <summary>
    /// The lead of the server's clock over this machine's, from the quickest of a few exchanges (Cristian, "Probabilistic clock synchronization", 1989); zero
    /// if the difference is not longer than that exchange.
    /// </summary>
    public async Task<TimeSpan> ClockAheadAsync(CancellationToken cancellationToken)
    {
        var (quickest, ahead) = (TimeSpan.MaxValue, TimeSpan.Zero);
        await using var connection = await source.OpenConnectionAsync(cancellationToken);
        await using var command = new NpgsqlCommand("SELECT clock_timestamp()", connection);
        for (var exchange = 0; exchange < 8; exchange++)
        {
            var asked = DateTime.UtcNow;
            var there = ((DateTime)(await command.ExecuteScalarAsync(cancellationToken))!).ToUniversalTime();
            var took = DateTime.UtcNow - asked;
            if (took < quickest)
                (quickest, ahead) = (took, there - (asked + (took / 2)));
        }

        return ahead.Duration() <= quickest ? TimeSpan.Zero : ahead;
    }

    /// <summary>Vacuums the database and, if the role may, writes a checkpoint, so that the server is in the same state before every drain.</summary>
    public static async Task SettleAsync(string database, CancellationToken cancellationToken)
    {
        await using var settled = NpgsqlDataSource.Create(EndpointConnections.ForRunner(database));
        await using var vacuum = settled.CreateCommand("VACUUM (ANALYZE)");
        await vacuum.ExecuteNonQueryAsync(cancellationToken);
        try
        {
            await using var checkpoint = settled.CreateCommand("CHECKPOINT");
            await checkpoint.ExecuteNonQueryAsync(cancellationToken);
        }
        catch (PostgresException refused) when (refused.SqlState == PostgresErrorCodes.InsufficientPrivilege)
        {
            // A server of the user's own, with a role that is neither superuser nor pg_checkpoint.
        }
    }

    public ValueTask DisposeAsync() => source.DisposeAsync();

    private async Task<IReadOnlyList<T>> ReadAsync<T>(
        string query, IReadOnlyList<NpgsqlParameter> parameters, Func<NpgsqlDataReader, T> read, CancellationToken cancellationToken)
    {
        await using var command = source.CreateCommand(query);
        foreach (var parameter in parameters)
            command.Parameters.Add(parameter);
        await using var reader = await command.ExecuteReaderAsync(cancellationToken);
        var rows = new List<T>();
        while (await reader.ReadAsync(cancellationToken))
            rows.Add(read(reader));

        return rows;
    }

}
