using Kit.Endpoints.Cells;
using Kit.Handlers;
using Kit.Runner.Measuring;
using Kit.Runner.Results.Accounts;
using Kit.Runner.Servers;
using Npgsql;

namespace Kit.Runner.Stage.Databases;

/// <summary>The two databases of one round in PostgreSQL.</summary>
internal sealed class RoundDatabases(KitDatabases databases, string queue, string widgets) : IRoundStore
{
    /// <summary>Number of rows.</summary>
    internal const string CountRows = "SELECT count(*) FROM widget";

    /// <summary>The transactions that are prepared in some databases.</summary>
    internal const string ReadPrepared = "SELECT gid, transaction::text::bigint FROM pg_prepared_xacts WHERE database = ANY($1)";

    /// <summary>At most so many seeded rows, the same number of rows apart.</summary>
    private const string ReadSeeded =
        """
        SELECT id, message_id
        FROM (SELECT id, message_id, row_number() OVER (ORDER BY id) - 1 AS place, count(*) OVER () AS rows FROM widget WHERE message_id <= $1) AS seeded
        WHERE place % greatest(1, (rows + $2 - 1) / $2) = 0
        ORDER BY id
        """;

    // Opens no session before the first statement.
    private readonly NpgsqlDataSource source = NpgsqlDataSource.Create(EndpointConnections.ForRunner(widgets));

    /// <summary>Connection string of the queue's own database, for transports in PostgreSQL.</summary>
    public string Queue => queue;

    /// <summary>Connection string of the widgets' database.</summary>
    public string Widgets => widgets;

    /// <summary>True if the endpoint's driver resets a session that a handler has used, as it does by default. Rounds leave that out.</summary>
    public bool ResetsSessions { get; set; }

    /// <summary>The databases on the queue's server, if that is another; <see langword="null"/>: the queue is in <see cref="Queue"/>.</summary>
    public RoundDatabases? Apart { get; set; }

    public string QueueForEndpoint(Cell cell) => EndpointConnections.For(QueueOf(cell), ResetsSessions);

    public string QueueForRunner(Cell cell) => EndpointConnections.ForRunner(QueueOf(cell));

    public string WidgetsForEndpoint => EndpointConnections.For(widgets, ResetsSessions);

    public string WidgetsForRunner => EndpointConnections.ForRunner(widgets);

    public IReadOnlyList<string> Names => [NameIn(queue), NameIn(widgets)];

    /// <summary>The rows that are not seeded.</summary>
    internal static string ReadBuilt(bool withCommitTime) =>
        $"SELECT id, message_id, {(withCommitTime ? "pg_xact_commit_timestamp(xmin)" : "NULL::timestamptz")} FROM widget WHERE message_id > $1";

    /// <summary>Runs statements, for as long as they take.</summary>
    public async Task PrepareAsync(string statements, CancellationToken cancellationToken)
    {
        await using var command = source.CreateCommand(statements);
        command.CommandTimeout = 0;
        await command.ExecuteNonQueryAsync(cancellationToken);
    }

    public async Task<long?> ReadTotalAsync(Scenario scenario, CancellationToken cancellationToken) =>
        scenario.Total is { } query ? await ScalarAsync(query, cancellationToken) : null;

    public Task<IReadOnlyList<Widget>> ReadSeededAsync(int most, CancellationToken cancellationToken) =>
        ReadAsync(
            ReadSeeded,
            [new NpgsqlParameter<Guid> { TypedValue = KitDatabases.LastSeeded }, new NpgsqlParameter<long> { TypedValue = most }],
            row => new Widget(row.GetInt64(0), row.GetGuid(1)),
            cancellationToken);

    public Task<long> CountAsync(CancellationToken cancellationToken) => ScalarAsync(CountRows, cancellationToken);

    public Task<IReadOnlyList<BuiltWidget>> ReadBuiltAsync(bool withCommitTime, CancellationToken cancellationToken) =>
        ReadAsync(
            ReadBuilt(withCommitTime),
            [new NpgsqlParameter<Guid> { TypedValue = KitDatabases.LastSeeded }],
            row => new BuiltWidget(row.GetInt64(0), row.GetGuid(1), row.IsDBNull(2) ? null : row.GetFieldValue<DateTimeOffset>(2)),
            cancellationToken);

    public async Task<IReadOnlyList<PreparedTransaction>> ReadPreparedAsync(CancellationToken cancellationToken) =>
    [
        .. await ReadAsync(
            ReadPrepared,
            [new NpgsqlParameter<string[]> { TypedValue = [.. Names] }],
            row => new PreparedTransaction(row.GetString(0), (uint)row.GetInt64(1)),
            cancellationToken),
        .. Apart is null ? [] : await Apart.ReadPreparedAsync(cancellationToken),
    ];

    /// <summary>
    /// The lead of the server's clock over this machine's; zero if the difference is not longer than the exchange by which it is known.
    /// </summary>
    public async Task<TimeSpan> ClockAheadAsync(CancellationToken cancellationToken)
    {
        await using var connection = await source.OpenConnectionAsync(cancellationToken);
        var (ahead, error) = await ClockLead.MeasureAsync(connection, exchanges: 8, cancellationToken);
        return ahead.Duration() <= 2 * error ? TimeSpan.Zero : ahead;
    }

    /// <summary>
    /// Vacuums the queue's database and, if the role may, writes a checkpoint, so that each server is in the same state before every drain. On two servers it
    /// does so on both.
    /// </summary>
    public async Task SettleAsync(Cell cell, CancellationToken cancellationToken)
    {
        await DatabaseOwner.SettleAsync(QueueForRunner(cell), cancellationToken);
        if (Apart is not null)
            await DatabaseOwner.SettleAsync(WidgetsForRunner, cancellationToken);
    }

    public async Task<ServerCounters?> ReadCountersAsync(CancellationToken cancellationToken)
    {
        await using var server = new NpgsqlConnection(EndpointConnections.ForRunner(databases.Server));
        await server.OpenAsync(cancellationToken);
        var counters = await ServerCounters.ReadAsync(server, Names, cancellationToken);
        return Apart is null ? counters : counters with { Apart = await Apart.ReadCountersAsync(cancellationToken) };
    }

    public async ValueTask DisposeAsync()
    {
        await source.DisposeAsync();
        foreach (var name in Names)
            await databases.DropAsync(name);
    }

    private async Task<long> ScalarAsync(string query, CancellationToken cancellationToken)
    {
        await using var command = source.CreateCommand(query);
        return (long)(await command.ExecuteScalarAsync(cancellationToken))!;
    }

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

    // Its own database, or that of the widgets in a mode that needs one database.
    private string QueueOf(Cell cell) => cell.NeedsOneDatabase ? widgets : Apart?.Queue ?? queue;

    private static string NameIn(string connection) => new NpgsqlConnectionStringBuilder(connection).Database!;
}
