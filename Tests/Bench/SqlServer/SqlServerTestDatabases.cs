using Kit.Modes;
using Kit.Runner.Stage.SqlServer;
using Microsoft.Data.SqlClient;

namespace Kit.Tests.SqlServer;

/// <summary>A database for queues and one for widgets, new for each test, on the SQL Server that is named.</summary>
internal sealed class SqlServerTestDatabases : ITestWidgets
{
    private readonly string server;
    private readonly string name = $"test_{Guid.NewGuid():N}";

    private SqlServerTestDatabases(string server) => this.server = server;

    /// <summary>The widgets', unless the transaction is to be promoted.</summary>
    public string QueueOf(TransactionMode mode) => mode == TransactionMode.FullDtcPromoted ? Queue : Widgets;

    private string Queue => SqlServerConnections.To(server, name + "_queue");

    public string Widgets => SqlServerConnections.To(server, name + "_widgets");

    public static async Task<SqlServerTestDatabases> CreateAsync()
    {
        var databases = new SqlServerTestDatabases(SqlServerServer.Named!);
        foreach (var database in new[] { databases.name + "_queue", databases.name + "_widgets" })
            await ExecuteAsync(databases.server, $"CREATE DATABASE [{database}]; ALTER DATABASE [{database}] SET ALLOW_SNAPSHOT_ISOLATION ON");

        await ExecuteAsync(databases.Widgets, "CREATE TABLE widget (id bigint NOT NULL PRIMARY KEY CLUSTERED, message_id uniqueidentifier NOT NULL)");
        return databases;
    }

    public async Task<int> CountRowsAsync() => (int)(await ReadAsync("count_big(*) FROM widget", row => row.GetInt64(0)))[0];

    public async Task<int> CountRowsAsync(Guid message) =>
        (int)(await ReadAsync("count_big(*) FROM widget WHERE message_id = @message", row => row.GetInt64(0), new SqlParameter("@message", message)))[0];

    public async Task<IReadOnlyDictionary<Guid, int>> ReadRowsByMessageAsync() =>
        (await ReadAsync("message_id, count(*) FROM widget GROUP BY message_id", row => (Id: row.GetGuid(0), Rows: row.GetInt32(1))))
            .ToDictionary(row => row.Id, row => row.Rows);

    /// <summary>0: MSDTC ends what it coordinates.</summary>
    public Task<int> CountPreparedAsync() => Task.FromResult(0);

    public async ValueTask DisposeAsync()
    {
        await SqlServerOwner.DropAsync(server, name + "_queue", CancellationToken.None);
        await SqlServerOwner.DropAsync(server, name + "_widgets", CancellationToken.None);
    }

    public static async Task ExecuteAsync(string connectionString, string statement)
    {
        await using var connection = await SqlServerConnections.OpenAsync(connectionString, CancellationToken.None);
        await connection.ExecuteAsync(statement, CancellationToken.None);
    }

    // As committed, while handlers hold their locks.
    private async Task<IReadOnlyList<T>> ReadAsync<T>(string query, Func<SqlDataReader, T> read, params SqlParameter[] parameters)
    {
        await using var connection = await SqlServerConnections.OpenAsync(Widgets, CancellationToken.None);
        return await connection.ReadAsync($"SET TRANSACTION ISOLATION LEVEL SNAPSHOT; SELECT {query}", read, CancellationToken.None, parameters);
    }
}
