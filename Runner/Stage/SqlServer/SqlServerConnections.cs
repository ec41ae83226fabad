using Kit.Runner.Stage.Databases;
using Microsoft.Data.SqlClient;

namespace Kit.Runner.Stage.SqlServer;

/// <summary>The connection settings of every endpoint of a run on SQL Server, and the runner's own.</summary>
internal static class SqlServerConnections
{
    public static string To(string server, string database) => new SqlConnectionStringBuilder(server) { InitialCatalog = database }.ConnectionString;

    public static string ForEndpoint(string connection) => new SqlConnectionStringBuilder(connection)
    {
        ApplicationName = "kit endpoint",
        MaxPoolSize = EndpointConnections.PoolSize,
    }.ConnectionString;

    public static string ForRunner(string connection) => new SqlConnectionStringBuilder(connection)
    {
        ApplicationName = "kit runner",
        Pooling = false,
        Enlist = false,
    }.ConnectionString;

    /// <summary>Opens a connection of the runner's.</summary>
    public static async Task<SqlConnection> OpenAsync(string connection, CancellationToken cancellationToken)
    {
        var opened = new SqlConnection(ForRunner(connection));
        try
        {
            await opened.OpenAsync(cancellationToken);
            return opened;
        }
        catch
        {
            await opened.DisposeAsync();
            throw;
        }
    }

    /// <summary>Runs a statement, however long it takes.</summary>
    public static async Task ExecuteAsync(
        this SqlConnection connection, string statement, CancellationToken cancellationToken,
        params SqlParameter[] parameters)
    {
        await using var command = new SqlCommand(statement, connection) { CommandTimeout = 0 };
        command.Parameters.AddRange(parameters);
        await command.ExecuteNonQueryAsync(cancellationToken);
    }

    public static async Task<IReadOnlyList<T>> ReadAsync<T>(
        this SqlConnection connection, string query, Func<SqlDataReader, T> read, CancellationToken cancellationToken, params SqlParameter[] parameters)
    {
        await using var command = new SqlCommand(query, connection);
        command.Parameters.AddRange(parameters);
        await using var reader = await command.ExecuteReaderAsync(cancellationToken);
        var rows = new List<T>();
        while (await reader.ReadAsync(cancellationToken))
            rows.Add(read(reader));

        return rows;
    }
}
