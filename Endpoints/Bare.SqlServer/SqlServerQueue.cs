using System.Data;
using Microsoft.Data.SqlClient;

namespace Kit.Endpoints.Bare.SqlServer;

/// <summary>
/// Creates, fills, counts and drops a queue, whether or not its endpoint runs. It reads the last committed state, which includes messages being
/// handled. The database must allow that (<c>ALTER DATABASE … SET ALLOW_SNAPSHOT_ISOLATION ON</c>).
/// </summary>
/// <param name="connectionString">The queue's database.</param>
/// <param name="name">The queue's name.</param>
/// <exception cref="ArgumentException">The connection string cannot be read, or the name is too long.</exception>
/// <exception cref="SqlException">In every member: the database cannot be reached or refused the statement.</exception>
public sealed class SqlServerQueue(string connectionString, string name) : IMessageQueue
{
    private readonly SqlServerTables tables = new(connectionString);
    private readonly QueueStatements statements = new(name);

    public string Name => name;

    public Task CreateAsync(CancellationToken cancellationToken) => tables.ExecuteAsync(statements.Create, cancellationToken);

    /// <inheritdoc/>
    /// <remarks>The subscription is a row of <c>kit_subscription</c>, a table that the first one creates.</remarks>
    public Task SubscribeAsync(Type eventType, CancellationToken cancellationToken)
    {
        ArgumentNullException.ThrowIfNull(eventType);
        return tables.ExecuteAsync(
            SubscriptionStatements.Subscribe, cancellationToken, ("@type", OutgoingMessage.TypeName(eventType)), ("@queue", name));
    }

    public Task DropAsync(CancellationToken cancellationToken) => tables.ExecuteAsync(statements.Drop, cancellationToken);

    /// <summary>Adds messages in one transaction.</summary>
    public async Task EnqueueAsync(IEnumerable<OutgoingMessage> messages, CancellationToken cancellationToken)
    {
        using var rows = new DataTable();
        rows.Columns.Add("message_id", typeof(Guid));
        rows.Columns.Add("type", typeof(string));
        rows.Columns.Add("body", typeof(byte[]));
        rows.Columns.Add("headers", typeof(string));
        foreach (var message in messages)
            rows.Rows.Add(message.MessageId, message.Type, message.Body, MessageHeaders.Write(message.Headers));

        await tables.InsertAsync(statements.Queue, rows, cancellationToken);
    }

    public async Task<long> CountAsync(CancellationToken cancellationToken) =>
        (await tables.ReadAsync(statements.Count, row => row.GetInt64(0), cancellationToken))[0];

    public Task<IReadOnlyList<Guid>> ReadMessagesAsync(CancellationToken cancellationToken) =>
        tables.ReadAsync(statements.ReadMessages, row => row.GetGuid(0), cancellationToken);

    public Task<IReadOnlyList<T>> ReadBodiesAsync<T>(Func<Guid, ReadOnlyMemory<byte>, T> read, CancellationToken cancellationToken) =>
        tables.ReadAsync(statements.ReadBodies, row => read(row.GetGuid(0), row.GetFieldValue<byte[]>(1)), cancellationToken);

    public async Task<int?> ReadBodySizeAsync(CancellationToken cancellationToken) =>
        await tables.ReadAsync(statements.ReadBodySize, row => row.GetInt32(0), cancellationToken) is [var size] ? size : null;

    public Task<IReadOnlyList<DeadLetter>> ReadErrorsAsync(CancellationToken cancellationToken) =>
        tables.ReadAsync(statements.ReadErrors, row => new DeadLetter(row.GetGuid(0), row.GetInt32(1), row.GetString(2)), cancellationToken);

    /// <summary>Does nothing: it keeps no connection open.</summary>
    public ValueTask DisposeAsync() => ValueTask.CompletedTask;
}
