using Kit.Endpoints.Bare.PostgreSql.Queues;
using Npgsql;
using NpgsqlTypes;

namespace Kit.Endpoints.Bare.PostgreSql;

/// <summary>Creates, fills, counts and drops a queue, whether or not its endpoint runs.</summary>
/// <param name="connectionString">The queue's database.</param>
/// <param name="name">The queue's name.</param>
/// <exception cref="ArgumentException">The connection string cannot be read, or the name is too long.</exception>
/// <exception cref="NpgsqlException">In every member: the database cannot be reached or refused the statement.</exception>
public sealed class PostgreSqlQueue(string connectionString, string name) : IReturningQueue, ICommittedQueue
{
    private readonly QueueStatements statements = new(name);
    private readonly NpgsqlDataSource source = NpgsqlDataSource.Create(connectionString);

    public string Name => name;

    /// <summary>Creates the queue's two tables if they are missing. If they exist, the role needs no right to create tables.</summary>
    public async Task CreateAsync(CancellationToken cancellationToken)
    {
        if (!await ExistsAsync(cancellationToken))
            await ExecuteAsync(statements.Create, cancellationToken);
    }

    /// <inheritdoc/>
    /// <remarks>
    /// The subscription is a row of <c>kit_subscription</c>. The first one creates that table and the procedure <c>kit_publish</c>. Publishers need SELECT on
    /// the table, and INSERT on the queues.
    /// </remarks>
    public async Task SubscribeAsync(Type eventType, CancellationToken cancellationToken)
    {
        ArgumentNullException.ThrowIfNull(eventType);
        await using (var missing = source.CreateCommand(SubscriptionStatements.IsMissing))
        {
            if (await missing.ExecuteScalarAsync(cancellationToken) is true)
                await ExecuteAsync(SubscriptionStatements.Create, cancellationToken);
        }

        await using var batch = source.CreateBatch();
        batch.BatchCommands.Add(SubscriptionStatements.Subscribing(OutgoingMessage.TypeName(eventType), name));
        await batch.ExecuteNonQueryAsync(cancellationToken);
    }

    public Task DropAsync(CancellationToken cancellationToken) => ExecuteAsync(statements.Drop, cancellationToken);

    /// <summary>Adds messages in one transaction: a collection of one with an INSERT, as an application sends it, others with a binary COPY.</summary>
    public async Task EnqueueAsync(IEnumerable<OutgoingMessage> messages, CancellationToken cancellationToken)
    {
        await using var connection = await source.OpenConnectionAsync(cancellationToken);
        if (messages.TryGetNonEnumeratedCount(out var count) && count == 1)
        {
            await using var one = new NpgsqlBatch(connection) { BatchCommands = { QueueStatements.Inserting(name, messages.Single()) } };
            await one.ExecuteNonQueryAsync(cancellationToken);
            return;
        }

        await using var rows = await connection.BeginBinaryImportAsync(statements.Copy, cancellationToken);
        foreach (var message in messages)
        {
            await rows.StartRowAsync(cancellationToken);
            await rows.WriteAsync(message.MessageId, NpgsqlDbType.Uuid, cancellationToken);
            await rows.WriteAsync(message.Type, NpgsqlDbType.Text, cancellationToken);
            await rows.WriteAsync(message.Body, NpgsqlDbType.Bytea, cancellationToken);
            if (MessageHeaders.Write(message.Headers) is { } headers)
                await rows.WriteAsync(headers, NpgsqlDbType.Text, cancellationToken);
            else
                await rows.WriteNullAsync(cancellationToken);
        }

        await rows.CompleteAsync(cancellationToken);
    }

    public async Task<long> CountAsync(CancellationToken cancellationToken)
    {
        await using var command = source.CreateCommand(statements.Count);
        return (long)(await command.ExecuteScalarAsync(cancellationToken))!;
    }

    public Task<IReadOnlyList<Guid>> ReadMessagesAsync(CancellationToken cancellationToken) =>
        ReadAsync(statements.ReadMessages, row => row.GetGuid(0), cancellationToken);

    public Task<IReadOnlyList<T>> ReadBodiesAsync<T>(Func<Guid, ReadOnlyMemory<byte>, T> read, CancellationToken cancellationToken) =>
        ReadAsync(statements.ReadBodies, row => read(row.GetGuid(0), row.GetFieldValue<byte[]>(1)), cancellationToken);

    public async Task<int?> ReadBodySizeAsync(CancellationToken cancellationToken)
    {
        await using var command = source.CreateCommand(statements.ReadBodySize);
        return (int?)await command.ExecuteScalarAsync(cancellationToken);
    }

    /// <inheritdoc/>
    /// <remarks>The server must record commit timestamps (<c>track_commit_timestamp</c>).</remarks>
    public Task<IReadOnlyList<CommittedMessage>> ReadCommittedAsync(long position, CancellationToken cancellationToken) =>
        ReadCommittedAsync(statements.ReadCommitted, position, cancellationToken);

    /// <inheritdoc/>
    /// <inheritdoc cref="ReadCommittedAsync(long, CancellationToken)" path="/remarks"/>
    public Task<IReadOnlyList<CommittedMessage>> ReadLatestAsync(int most, CancellationToken cancellationToken) =>
        ReadCommittedAsync(statements.ReadLatest, most, cancellationToken);

    /// <summary>Whether the queue's two tables exist on the connection's search path.</summary>
    public async Task<bool> ExistsAsync(CancellationToken cancellationToken)
    {
        await using var command = source.CreateCommand(QueueStatements.Exists);
        command.Parameters.Add(new NpgsqlParameter<string> { TypedValue = statements.Queue });
        command.Parameters.Add(new NpgsqlParameter<string> { TypedValue = statements.Errors });
        return (bool)(await command.ExecuteScalarAsync(cancellationToken))!;
    }

    public Task<IReadOnlyList<DeadLetter>> ReadErrorsAsync(CancellationToken cancellationToken) =>
        ReadAsync(
            statements.ReadErrors,
            row => new DeadLetter(row.GetGuid(0), row.GetInt32(1), row.GetString(2))
            {
                Type = row.GetString(3),
                FailedAt = row.GetFieldValue<DateTimeOffset>(4),
            },
            cancellationToken);

    /// <inheritdoc/>
    /// <remarks>Returns all of them in one transaction, or none.</remarks>
    public async Task<IReadOnlyList<Guid>> ReturnErrorsAsync(IReadOnlyCollection<Guid>? messageIds, CancellationToken cancellationToken)
    {
        await using var connection = await source.OpenConnectionAsync(cancellationToken);
        await using var transaction = await connection.BeginTransactionAsync(cancellationToken);
        var (returned, stored) = (new List<Guid>(), 0L);
        await using (var command = new NpgsqlCommand(statements.ReturnErrors, connection, transaction))
        {
            command.Parameters.Add(new NpgsqlParameter
            {
                Value = messageIds?.ToArray() ?? (object)DBNull.Value,
                NpgsqlDbType = NpgsqlDbType.Array | NpgsqlDbType.Uuid,
            });
            await using var reader = await command.ExecuteReaderAsync(cancellationToken);
            while (await reader.ReadAsync(cancellationToken))
            {
                returned.Add(reader.GetGuid(0));
                stored = reader.GetInt64(1);
            }
        }

        if (stored != returned.Count)
            throw new NpgsqlException($"Table {statements.Queue} has stored {stored} of {returned.Count} dead letters: a trigger or a rule suppresses rows.");

        if (messageIds?.Except(returned).ToList() is { Count: > 0 } missing)
            throw new DeadLetterNotFoundException(missing);

        await transaction.CommitAsync(cancellationToken);
        return returned;
    }

    public ValueTask DisposeAsync() => source.DisposeAsync();

    private async Task<IReadOnlyList<CommittedMessage>> ReadCommittedAsync(string query, long number, CancellationToken cancellationToken)
    {
        await using var command = source.CreateCommand(query);
        command.Parameters.Add(new NpgsqlParameter<long> { TypedValue = number });
        return await ReadAsync(
            command, row => new CommittedMessage(row.GetInt64(0), row.GetGuid(1), row.GetFieldValue<DateTimeOffset>(2)), cancellationToken);
    }

    private async Task<IReadOnlyList<T>> ReadAsync<T>(string query, Func<NpgsqlDataReader, T> read, CancellationToken cancellationToken)
    {
        await using var command = source.CreateCommand(query);
        return await ReadAsync(command, read, cancellationToken);
    }

    private static async Task<IReadOnlyList<T>> ReadAsync<T>(NpgsqlCommand command, Func<NpgsqlDataReader, T> read, CancellationToken cancellationToken)
    {
        await using var reader = await command.ExecuteReaderAsync(cancellationToken);
        var rows = new List<T>();
        while (await reader.ReadAsync(cancellationToken))
            rows.Add(read(reader));

        return rows;
    }

    private async Task ExecuteAsync(string statement, CancellationToken cancellationToken)
    {
        await using var command = source.CreateCommand(statement);
        await command.ExecuteNonQueryAsync(cancellationToken);
    }
}
