using Kit.Endpoints.Cells;
using Kit.Handlers;
using Kit.Modes;
using Kit.Runner.Measuring;
using Kit.Runner.Results.Accounts;
using Kit.Runner.Stage.Databases;
using Microsoft.Data.SqlClient;

namespace Kit.Runner.Stage.SqlServer;

/// <summary>The two databases of one round on SQL Server.</summary>
internal sealed class SqlServerRound(SqlServerDatabases databases, string queue, string widgets) : IRoundStore
{
    public string QueueForEndpoint(Cell cell) => SqlServerConnections.ForEndpoint(QueueOf(cell));

    public string QueueForRunner(Cell cell) => SqlServerConnections.ForRunner(QueueOf(cell));

    public string WidgetsForEndpoint => SqlServerConnections.ForEndpoint(widgets);

    public string WidgetsForRunner => SqlServerConnections.ForRunner(widgets);

    public async Task PrepareAsync(string statements, CancellationToken cancellationToken)
    {
        await using var connection = await SqlServerConnections.OpenAsync(widgets, cancellationToken);
        await connection.ExecuteAsync(statements, cancellationToken);
    }

    public async Task<long?> ReadTotalAsync(Scenario scenario, CancellationToken cancellationToken) =>
        scenario.Total is { } query ? (await ReadAsync(query, row => row.GetInt64(0), cancellationToken))[0] : null;

    /// <summary>Not read: the scenario that asks for rows is written for PostgreSQL.</summary>
    public Task<IReadOnlyList<Widget>> ReadSeededAsync(int most, CancellationToken cancellationToken) =>
        throw new NotSupportedException("Seeded rows are read in PostgreSQL only. A scenario that asks for them must say that it needs PostgreSQL.");

    public async Task<long> CountAsync(CancellationToken cancellationToken) =>
        (await ReadAsync("SELECT count_big(*) FROM dbo.widget", row => row.GetInt64(0), cancellationToken))[0];

    /// <summary>The built rows without times: SQL Server does not record when a transaction committed.</summary>
    public Task<IReadOnlyList<BuiltWidget>> ReadBuiltAsync(bool withCommitTime, CancellationToken cancellationToken) =>
        ReadAsync(
            "SELECT id, message_id FROM dbo.widget WHERE message_id <> @seeded",
            row => new BuiltWidget(row.GetInt64(0), row.GetGuid(1), Committed: null),
            cancellationToken,
            new SqlParameter("@seeded", Guid.Empty));

    /// <summary>None: MSDTC ends transactions in doubt. They hold locks; a count that waits for them ends at its time limit.</summary>
    public Task<IReadOnlyList<PreparedTransaction>> ReadPreparedAsync(CancellationToken cancellationToken) =>
        Task.FromResult<IReadOnlyList<PreparedTransaction>>([]);

    /// <summary>Zero: no time is read from the server.</summary>
    public Task<TimeSpan> ClockAheadAsync(CancellationToken cancellationToken) => Task.FromResult(TimeSpan.Zero);

    public async Task SettleAsync(Cell cell, CancellationToken cancellationToken)
    {
        foreach (var database in new[] { queue, widgets })
        {
            await using var connection = await SqlServerConnections.OpenAsync(database, cancellationToken);
            await connection.ExecuteAsync("EXEC sys.sp_updatestats", cancellationToken);
            await connection.ExecuteAsync("CHECKPOINT", cancellationToken);
        }
    }

    public Task<ServerCounters?> ReadCountersAsync(CancellationToken cancellationToken) => Task.FromResult<ServerCounters?>(null);

    public async ValueTask DisposeAsync()
    {
        foreach (var connection in new[] { queue, widgets })
            await databases.DropAsync(new SqlConnectionStringBuilder(connection).InitialCatalog);
    }

    // One connection string for queue and widgets, so that one session serves both; two if the transaction is to be promoted.
    private string QueueOf(Cell cell) => cell.Mode == TransactionMode.FullDtcPromoted ? queue : widgets;

    private async Task<IReadOnlyList<T>> ReadAsync<T>(
        string query, Func<SqlDataReader, T> read, CancellationToken cancellationToken,
        params SqlParameter[] parameters)
    {
        await using var connection = await SqlServerConnections.OpenAsync(widgets, cancellationToken);
        return await connection.ReadAsync(query, read, cancellationToken, parameters);
    }
}
