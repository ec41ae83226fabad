using System.Data;
using Microsoft.Data.SqlClient;

namespace Kit.Endpoints.Bare.SqlServer;

/// <summary>Fills and reads the tables of queues from outside, whether or not their endpoints run.</summary>
/// <param name="connectionString">Their database. Connections are not pooled, because they would keep their isolation level.</param>
/// <exception cref="ArgumentException">The connection string cannot be read.</exception>
internal sealed class SqlServerTables(string connectionString)
{
    public string ConnectionString { get; } = new SqlConnectionStringBuilder(connectionString) { Pooling = false, Enlist = false }.ConnectionString;

    /// <summary>Adds rows in one transaction, with a bulk copy.</summary>
    public async Task InsertAsync(string table, DataTable rows, CancellationToken cancellationToken)
    {
        await using var connection = await OpenAsync(cancellationToken);
        // All rows are one batch, and a batch is one transaction.
        using var copy = new SqlBulkCopy(connection, SqlBulkCopyOptions.UseInternalTransaction, externalTransaction: null)
        {
            DestinationTableName = table,
            BulkCopyTimeout = 0,
        };
        foreach (DataColumn column in rows.Columns)
            copy.ColumnMappings.Add(column.ColumnName, column.ColumnName);

        await copy.WriteToServerAsync(rows, cancellationToken);
    }

    public async Task<IReadOnlyList<T>> ReadAsync<T>(string query, Func<SqlDataReader, T> read, CancellationToken cancellationToken)
    {
        await using var connection = await OpenAsync(cancellationToken);
        await using var command = new SqlCommand(query, connection);
        await using var reader = await command.ExecuteReaderAsync(cancellationToken);
        var rows = new List<T>();
        while (await reader.ReadAsync(cancellationToken))
            rows.Add(read(reader));

        return rows;
    }

    public async Task ExecuteAsync(string statement, CancellationToken cancellationToken, params (string Name, string Value)[] parameters)
    {
        await using var connection = await OpenAsync(cancellationToken);
        await using var command = new SqlCommand(statement, connection);
        foreach (var (name, value) in parameters)
            command.Parameters.AddWithValue(name, value);

        await command.ExecuteNonQueryAsync(cancellationToken);
    }

    private async Task<SqlConnection> OpenAsync(CancellationToken cancellationToken)
    {
        var connection = new SqlConnection(ConnectionString);
        await connection.OpenAsync(cancellationToken);
        return connection;
    }
}
