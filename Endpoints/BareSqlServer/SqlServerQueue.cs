using System.Data;
using Microsoft.Data.SqlClient;

namespace Kit.Endpoints.Bare.SqlServer;

/// <summary>
/// Creates, fills, counts and drops a queue, whether or not its endpoint runs. What it reads is what was last committed, so that messages
/// being handled are seen: the database must allow that (<c>ALTER DATABASE … SET ALLOW_SNAPSHOT_ISOLATION ON</c>).
/// </summary>
/// <exception cref="SqlException">Every member: the database cannot be reached or refused the statement.</exception>
public sealed class SqlServerQueue
{
    private readonly string connectionString;
    private readonly QueueStatements statements;

    /// <param name="connectionString">The queue's database. Connections are not pooled: their isolation level would stay with them.</param>
    /// <param name="name">The queue's name.</param>
    /// <exception cref="ArgumentException">The connection string cannot be read, or the name is too long.</exception>
    public SqlServerQueue(string connectionString, string name)
    {
        this.connectionString = new SqlConnectionStringBuilder(connectionString) { Pooling = false, Enlist = false }.ConnectionString;
        statements = new QueueStatements(name);
    }

    public Task CreateAsync(CancellationToken cancellationToken) => ExecuteAsync(statements.Create, cancellationToken);

    public Task DropAsync(CancellationToken cancellationToken) => ExecuteAsync(statements.Drop, cancellationToken);

    /// <summary>Adds messages in one transaction, by bulk copy.</summary>
    public async Task EnqueueAsync(IEnumerable<OutgoingMessage> messages, CancellationToken cancellationToken)
    {
        using var rows = new DataTable();
        rows.Columns.Add("message_id", typeof(Guid));
        rows.Columns.Add("type", typeof(string));
        rows.Columns.Add("body", typeof(byte[]));
        foreach (var message in messages)
            rows.Rows.Add(message.MessageId, message.Type, message.Body);

        await using var connection = await OpenAsync(cancellationToken);
        // All rows are one batch, and the batch is one transaction.
        using var copy = new SqlBulkCopy(connection, SqlBulkCopyOptions.UseInternalTransaction, externalTransaction: null)
        {
            DestinationTableName = statements.Queue,
            BulkCopyTimeout = 0,
        };
        foreach (DataColumn column in rows.Columns)
            copy.ColumnMappings.Add(column.ColumnName, column.ColumnName);

        await copy.WriteToServerAsync(rows, cancellationToken);
    }

    /// <summary>How many messages lie in the queue, those included that are being handled.</summary>
    public async Task<long> CountAsync(CancellationToken cancellationToken) => (await ReadAsync(statements.Count, row => row.GetInt64(0), cancellationToken))[0];

    /// <summary>The ids of the messages that lie in the queue, in its order.</summary>
    public Task<IReadOnlyList<Guid>> ReadMessagesAsync(CancellationToken cancellationToken) =>
        ReadAsync(statements.ReadMessages, row => row.GetGuid(0), cancellationToken);

    /// <summary>The bytes of the first message's body, or <see langword="null"/> without one.</summary>
    public async Task<int?> ReadBodySizeAsync(CancellationToken cancellationToken) =>
        await ReadAsync(statements.ReadBodySize, row => row.GetInt32(0), cancellationToken) is [var size] ? size : null;

    public Task<IReadOnlyList<DeadLetter>> ReadErrorsAsync(CancellationToken cancellationToken) =>
        ReadAsync(statements.ReadErrors, row => new DeadLetter(row.GetGuid(0), row.GetInt32(1), row.GetString(2)), cancellationToken);

    private async Task<SqlConnection> OpenAsync(CancellationToken cancellationToken)
    {
        var connection = new SqlConnection(connectionString);
        await connection.OpenAsync(cancellationToken);
        return connection;
    }

    private async Task<IReadOnlyList<T>> ReadAsync<T>(string query, Func<SqlDataReader, T> read, CancellationToken cancellationToken)
    {
        await using var connection = await OpenAsync(cancellationToken);
        await using var command = new SqlCommand(query, connection);
        await using var reader = await command.ExecuteReaderAsync(cancellationToken);
        var rows = new List<T>();
        while (await reader.ReadAsync(cancellationToken))
            rows.Add(read(reader));

        return rows;
    }

    private async Task ExecuteAsync(string statement, CancellationToken cancellationToken)
    {
        await using var connection = await OpenAsync(cancellationToken);
        await using var command = new SqlCommand(statement, connection);
        await command.ExecuteNonQueryAsync(cancellationToken);
    }
}
