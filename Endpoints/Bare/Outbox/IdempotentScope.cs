using System.Data;
using Npgsql;

namespace Kit.Endpoints.Bare.Outbox;

/// <summary>
/// Handles each message once, however often it is delivered: its id is recorded in the handler's own transaction, and so is what the handler
/// sends, until it is dispatched. Known as idempotent receiver (Hohpe and Woolf, "Enterprise Integration Patterns", 2003).
/// </summary>
/// <remarks>
/// Ids are kept until someone deletes them: the endpoint cannot know how long a message can come again, from a broker, an error queue or a
/// sender. What a message sent goes with its id, dispatched or not, so spare the ids whose sends wait: <c>DELETE FROM orders_inbox i WHERE
/// handled_at &lt; … AND NOT EXISTS (SELECT FROM orders_outbox o WHERE o.causation_id = i.message_id)</c>.
/// </remarks>
internal sealed class IdempotentScope(OutboxStore outbox, NpgsqlDataSource data, OutboxStatements statements, IsolationLevel isolation)
{
    /// <summary>Handles a message and commits, unless that was done before.</summary>
    /// <returns>What is to be dispatched now: what the handler sent, now or then, without what the dispatcher has claimed.</returns>
    /// <exception cref="UnreadableMessageException">The message has no id, so that it cannot be told from others.</exception>
    /// <exception cref="Exception">The handler's own, and <see cref="PostgresException"/> where its transaction does not commit.</exception>
    public async Task<IReadOnlyList<OutboxRecord>> HandleOnceAsync(
        MessagePipeline pipeline, ReceivedMessage message, CancellationToken cancellationToken)
    {
        if (message.MessageId == Guid.Empty)
            throw new UnreadableMessageException("The message has no id: the outbox could not tell it from others.");

        await using var local = await OpenAsync(cancellationToken);
        var connection = local.Connection;
        if (!await RecordAsync(connection, message.MessageId, cancellationToken))
            return await outbox.ClaimUndispatchedAsync(connection, message.MessageId, cancellationToken) ?? [];

        var sends = await HandleAsync(pipeline, message, local, cancellationToken);
        var records = sends.Select((send, position) => new OutboxRecord(position, send)).ToList();
        try
        {
            await CommitAsync(connection, message.MessageId, records);
        }
        catch (NpgsqlException) when (connection.State != ConnectionState.Open)
        {
            // The answer is lost, and the commit perhaps not: then the message is handled.
            if (!await IsHandledAsync(message.MessageId, cancellationToken))
                throw;
        }
        catch (PostgresException ended) when (ended.SqlState == PostgresErrorCodes.NoActiveSqlTransaction)
        {
            await local.DisposeAsync();
            await RequireUnhandledAsync(message.MessageId, ended);
            throw;
        }

        return records;
    }

    /// <summary>Whether the message's handler has committed.</summary>
    public async Task<bool> IsHandledAsync(Guid messageId, CancellationToken cancellationToken)
    {
        await using var command = data.CreateCommand(statements.IsRecorded);
        command.Parameters.Add(new NpgsqlParameter<Guid> { TypedValue = messageId });
        return await command.ExecuteScalarAsync(cancellationToken) is true;
    }

    private async Task<IReadOnlyCollection<OutgoingMessage>> HandleAsync(
        MessagePipeline pipeline, ReceivedMessage message, LocalTransaction local, CancellationToken cancellationToken)
    {
        try
        {
            return await LentWork.RunAsync(pipeline, message, local.Connection, local.Lent, cancellationToken);
        }
        catch (Exception failure) when (failure is not (UnreadableMessageException or ServerRefusedException or OperationCanceledException))
        {
            // Its connection goes back first: workers that all fail must not wait for a second one each.
            await local.DisposeAsync();
            await RequireUnhandledAsync(message.MessageId, failure);
            throw;
        }
    }

    /// <summary>
    /// The id commits with whoever commits: a handler that did so itself would have its message taken for handled. The id is taken back, and the
    /// message goes to the errors.
    /// </summary>
    /// <exception cref="TransactionEndedException">The handler committed.</exception>
    private async Task RequireUnhandledAsync(Guid messageId, Exception failure)
    {
        if (!await IsHandledAsync(messageId, CancellationToken.None))
            return;

        await using var command = data.CreateCommand(statements.Unrecord);
        command.Parameters.Add(new NpgsqlParameter<Guid> { TypedValue = messageId });
        await command.ExecuteNonQueryAsync(CancellationToken.None);
        throw new TransactionEndedException(failure);
    }

    private async Task<LocalTransaction> OpenAsync(CancellationToken cancellationToken)
    {
        try
        {
            return await LocalTransaction.OpenAsync(data, isolation, cancellationToken);
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
        try
        {
            return await record.ExecuteNonQueryAsync(cancellationToken) == 1;
        }
        catch (NpgsqlException late) when (FailureKinds.IsTimeout(late))
        {
            // Another delivery of the message is being handled, for longer than the command, lock or statement time-out. It has not failed here.
            throw new ServerRefusedException(late);
        }
    }

    private async Task CommitAsync(NpgsqlConnection connection, Guid messageId, IReadOnlyCollection<OutboxRecord> records)
    {
        await using var batch = new NpgsqlBatch(connection);
        foreach (var (position, send) in records)
            batch.BatchCommands.Add(statements.Sending(messageId, position, send));

        // In a failed transaction, and outside of one, PostgreSQL answers a commit with no error, and the driver does not look
        // (npgsql issue 6641). A savepoint is an error in both.
        batch.BatchCommands.Add(new NpgsqlBatchCommand("SAVEPOINT kit"));
        batch.BatchCommands.Add(new NpgsqlBatchCommand("COMMIT"));
        // Without a token: a cancelled commit could have committed.
        await batch.ExecuteNonQueryAsync(CancellationToken.None);
    }
}
