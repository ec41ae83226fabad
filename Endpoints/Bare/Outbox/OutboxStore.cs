using Kit.Modes;
using Npgsql;

namespace Kit.Endpoints.Bare.Outbox;

/// <summary>
/// Handles each message once, however often it is delivered: its id is recorded in the handler's own transaction, and so is what the handler
/// sends, until it is dispatched. Known as idempotent receiver (Hohpe and Woolf, "Enterprise Integration Patterns", 2003) and transactional outbox.
/// </summary>
/// <remarks>
/// Ids are kept until someone deletes them (<c>DELETE FROM orders_inbox WHERE handled_at &lt; …</c>; what they sent goes with them): the
/// endpoint cannot know how long a message can come again, from a broker, an error queue or a sender.
/// </remarks>
internal sealed class OutboxStore(NpgsqlDataSource data, string endpoint)
{
    private readonly OutboxStatements statements = new(endpoint);

    /// <summary>Creates the tables where they are not there; where they are, the role needs no right to.</summary>
    /// <exception cref="NpgsqlException">The database cannot be reached, or refuses.</exception>
    public async Task CreateAsync(CancellationToken cancellationToken)
    {
        await using var there = data.CreateCommand(OutboxStatements.AreThere);
        there.Parameters.Add(new NpgsqlParameter<string> { TypedValue = statements.Inbox });
        there.Parameters.Add(new NpgsqlParameter<string> { TypedValue = statements.Outbox });
        if (await there.ExecuteScalarAsync(cancellationToken) is true)
            return;

        await using var create = data.CreateCommand(statements.Create);
        await create.ExecuteNonQueryAsync(cancellationToken);
    }

    /// <summary>Handles a message and commits, unless that was done before.</summary>
    /// <returns>What is to be dispatched now: what the handler sent, now or then.</returns>
    /// <exception cref="UnreadableMessageException">The message has no id, so that it cannot be told from others.</exception>
    /// <exception cref="Exception">The handler's own, and <see cref="PostgresException"/> where its transaction does not commit.</exception>
    public async Task<IReadOnlyCollection<OutgoingMessage>> HandleOnceAsync(
        MessagePipeline pipeline, ReceivedMessage message, CancellationToken cancellationToken)
    {
        if (message.MessageId == Guid.Empty)
            throw new UnreadableMessageException("The message has no id: the outbox could not tell it from others.");

        await using var connection = await OpenAsync(cancellationToken);
        // The driver gives the same transaction object to whoever has the physical connection next: it is not kept, and closing the
        // connection is what rolls back.
        await connection.BeginTransactionAsync(TransactionMode.Isolation, cancellationToken);
        if (!await RecordAsync(connection, message.MessageId, cancellationToken))
            return await ReadUndispatchedAsync(connection, message.MessageId, cancellationToken);

        var sends = await LentWork.RunAsync(pipeline, message, connection, cancellationToken);
        await CommitAsync(connection, message.MessageId, sends);
        return sends;
    }

    /// <summary>Says that what a message sent is dispatched. A crash before that dispatches it again, with the same ids.</summary>
    public async Task ForgetDispatchedAsync(Guid messageId, IReadOnlyCollection<OutgoingMessage> dispatched)
    {
        if (dispatched.Count == 0)
            return;

        await using var forget = data.CreateCommand(statements.Forget);
        forget.Parameters.Add(new NpgsqlParameter<Guid> { TypedValue = messageId });
        await forget.ExecuteNonQueryAsync();
    }

    private async Task<NpgsqlConnection> OpenAsync(CancellationToken cancellationToken)
    {
        try
        {
            return await data.OpenConnectionAsync(cancellationToken);
        }
        catch (Exception refused) when (refused is not OperationCanceledException)
        {
            throw new ServerRefusedException(refused);
        }
    }

    private async Task<bool> RecordAsync(NpgsqlConnection connection, Guid messageId, CancellationToken cancellationToken)
    {
        await using var record = new NpgsqlCommand(statements.Record, connection);
        record.Parameters.Add(new NpgsqlParameter<Guid> { TypedValue = messageId });
        return await record.ExecuteNonQueryAsync(cancellationToken) == 1;
    }

    private async Task<IReadOnlyCollection<OutgoingMessage>> ReadUndispatchedAsync(NpgsqlConnection connection, Guid messageId, CancellationToken cancellationToken)
    {
        await using var read = new NpgsqlCommand(statements.ReadUndispatched, connection);
        read.Parameters.Add(new NpgsqlParameter<Guid> { TypedValue = messageId });
        await using var reader = await read.ExecuteReaderAsync(cancellationToken);
        var messages = new List<OutgoingMessage>();
        while (await reader.ReadAsync(cancellationToken))
            messages.Add(new OutgoingMessage(reader.GetString(0), reader.GetGuid(1), reader.GetString(2), reader.GetFieldValue<byte[]>(3)));

        return messages;
    }

    private async Task CommitAsync(NpgsqlConnection connection, Guid messageId, IReadOnlyCollection<OutgoingMessage> sends)
    {
        await using var batch = new NpgsqlBatch(connection);
        foreach (var (position, send) in sends.Index())
            batch.BatchCommands.Add(Command(statements.Send, messageId, position, send.MessageId, send.Queue, send.Type, send.Body));

        // In a failed transaction, and outside of one, PostgreSQL answers a commit with no error, and the driver does not look
        // (npgsql issue 6641). A savepoint is an error in both.
        batch.BatchCommands.Add(Command("SAVEPOINT kit"));
        batch.BatchCommands.Add(Command("COMMIT"));
        // Without a token: a cancelled commit could have committed.
        await batch.ExecuteNonQueryAsync(CancellationToken.None);
    }

    private static NpgsqlBatchCommand Command(string statement, params object[] values)
    {
        var command = new NpgsqlBatchCommand(statement);
        foreach (var value in values)
            command.Parameters.Add(new NpgsqlParameter { Value = value });

        return command;
    }
}
