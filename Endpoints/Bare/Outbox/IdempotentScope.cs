using System.Data;
using Npgsql;

namespace Kit.Endpoints.Bare.Outbox;

/// <summary>
/// Handles each message once, however often it is delivered. The handler's own transaction records the message's id and the handler's sends, which
/// stay recorded until they are dispatched. Known as idempotent receiver (Hohpe and Woolf, "Enterprise Integration Patterns", 2003).
/// </summary>
/// <remarks>
/// Ids are kept until someone deletes them, because the endpoint cannot know for how long a broker, an error queue or a sender may redeliver a
/// message. Deleting an id also deletes its sends, dispatched or not, so spare ids with waiting sends: <c>DELETE FROM orders_inbox i WHERE
/// handled_at &lt; … AND NOT EXISTS (SELECT FROM orders_outbox o WHERE o.causation_id = i.message_id)</c>.
/// </remarks>
internal sealed class IdempotentScope(OutboxStore outbox, NpgsqlDataSource data, OutboxStatements statements, IsolationLevel isolation)
{
    /// <summary>Handles a message and commits, unless that was done before.</summary>
    /// <returns>The sends to dispatch now: those that the handler made, now or earlier, except those that the dispatcher has claimed.</returns>
    /// <exception cref="UnreadableMessageException">The message has no id, so it cannot be distinguished from others.</exception>
    /// <exception cref="Exception">
    /// The handler's exception, or a <see cref="PostgresException"/> if its transaction does not commit.
    /// </exception>
    public async Task<IReadOnlyList<OutboxRecord>> HandleOnceAsync(
        MessagePipeline pipeline, ReceivedMessage message, CancellationToken cancellationToken)
    {
        if (message.MessageId == Guid.Empty)
            throw new UnreadableMessageException("The message has no id, so the outbox cannot distinguish it from others.");

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
            // The answer is lost, but the commit may have succeeded. Then the message is handled.
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
            // Its connection is returned first, so that workers that all fail do not each wait for a second one.
            await local.DisposeAsync();
            await RequireUnhandledAsync(message.MessageId, failure);
            throw;
        }
    }

    /// <summary>
    /// If the handler itself committed, the id is recorded and the message would count as handled. This deletes the id, and the message goes to
    /// the error queue.
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
            // Another delivery of the message has been in a handler for longer than the command, lock or statement time-out. This one has not failed.
            throw new ServerRefusedException(late);
        }
    }

    private async Task CommitAsync(NpgsqlConnection connection, Guid messageId, IReadOnlyCollection<OutboxRecord> records)
    {
        await using var batch = new NpgsqlBatch(connection);
        foreach (var (position, send) in records)
            batch.BatchCommands.Add(statements.Sending(messageId, position, send));

        // In a failed transaction, or outside of a transaction, PostgreSQL does not report an error for COMMIT, and the driver does not check
        // (npgsql issue 6641). For SAVEPOINT it reports one.
        batch.BatchCommands.Add(new NpgsqlBatchCommand("SAVEPOINT kit"));
        batch.BatchCommands.Add(new NpgsqlBatchCommand("COMMIT"));
        // Without a token: a cancelled commit could have committed.
        await batch.ExecuteNonQueryAsync(CancellationToken.None);
    }
}
