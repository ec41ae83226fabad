using System.Collections.Concurrent;
using System.Data;
using Npgsql;

namespace Kit.Endpoints.Bare.Outbox;

/// <summary>
/// Handles each message once, however often it is delivered: its id is recorded in the handler's own transaction, and so is what the handler
/// sends, until it is dispatched. Known as idempotent receiver (Hohpe and Woolf, "Enterprise Integration Patterns", 2003) and transactional outbox.
/// </summary>
/// <remarks>
/// Ids are kept until someone deletes them: the endpoint cannot know how long a message can come again, from a broker, an error queue or a
/// sender. What a message sent goes with its id, dispatched or not, so spare the ids whose sends wait: <c>DELETE FROM orders_inbox i WHERE
/// handled_at &lt; … AND NOT EXISTS (SELECT FROM orders_outbox o WHERE o.causation_id = i.message_id)</c>.
/// </remarks>
internal sealed class OutboxStore(NpgsqlDataSource data, string endpoint, IsolationLevel isolation)
{
    private readonly OutboxStatements statements = new(endpoint);
    private readonly ConcurrentQueue<(Guid MessageId, IReadOnlyCollection<OutboxRecord> Dispatched)> unforgotten = new();

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
    /// <returns>What is to be dispatched now: what the handler sent, now or then, without what the dispatcher has claimed.</returns>
    /// <exception cref="UnreadableMessageException">The message has no id, so that it cannot be told from others.</exception>
    /// <exception cref="Exception">The handler's own, and <see cref="PostgresException"/> where its transaction does not commit.</exception>
    public async Task<IReadOnlyList<OutboxRecord>> HandleOnceAsync(
        MessagePipeline pipeline, ReceivedMessage message, CancellationToken cancellationToken)
    {
        if (message.MessageId == Guid.Empty)
            throw new UnreadableMessageException("The message has no id: the outbox could not tell it from others.");

        await using var connection = await OpenAsync(cancellationToken);
        // The driver gives the same transaction object to whoever has the physical connection next: it is not kept, and closing the
        // connection is what rolls back.
        await connection.BeginTransactionAsync(isolation, cancellationToken);
        if (!await RecordAsync(connection, message.MessageId, cancellationToken))
            return await ClaimUndispatchedAsync(connection, message.MessageId, cancellationToken) ?? [];

        var sends = await HandleAsync(pipeline, message, connection, cancellationToken);
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

    /// <summary>
    /// Says that these are dispatched. A crash before that dispatches them again, with the same ids. Where the database cannot be reached,
    /// <see cref="ForgetLateAsync"/> says it.
    /// </summary>
    public async Task ForgetAsync(Guid messageId, IReadOnlyCollection<OutboxRecord> dispatched)
    {
        if (dispatched.Count == 0)
            return;

        try
        {
            await DeleteAsync(messageId, dispatched, CancellationToken.None);
        }
        catch (NpgsqlException)
        {
            unforgotten.Enqueue((messageId, dispatched));
        }
    }

    /// <summary>Says what <see cref="ForgetAsync"/> could not say.</summary>
    /// <exception cref="NpgsqlException">The database still cannot be reached, or refuses.</exception>
    public async Task ForgetLateAsync(CancellationToken cancellationToken)
    {
        while (unforgotten.TryPeek(out var late))
        {
            await DeleteAsync(late.MessageId, late.Dispatched, cancellationToken);
            unforgotten.TryDequeue(out _);
        }
    }

    /// <summary>Records that wait, the next ones after those of a message; none of those that are for certain queues.</summary>
    public async Task<IReadOnlyList<WaitingRecord>> ReadWaitingAsync(
        Guid after, IReadOnlyCollection<string> notFor, int atMost, CancellationToken cancellationToken)
    {
        await using var command = data.CreateCommand(statements.ReadWaiting);
        command.Parameters.Add(new NpgsqlParameter<Guid> { TypedValue = after });
        command.Parameters.Add(new NpgsqlParameter<string[]> { TypedValue = [.. notFor] });
        command.Parameters.Add(new NpgsqlParameter<int> { TypedValue = atMost });
        await using var reader = await command.ExecuteReaderAsync(cancellationToken);
        var records = new List<WaitingRecord>();
        while (await reader.ReadAsync(cancellationToken))
            records.Add(new WaitingRecord(reader.GetGuid(0), reader.GetString(1)));

        return records;
    }

    /// <summary>How much waits, and for how long.</summary>
    /// <exception cref="NpgsqlException">The database cannot be reached.</exception>
    public async Task<OutboxBacklog> ReadBacklogAsync(CancellationToken cancellationToken)
    {
        await using var command = data.CreateCommand(statements.ReadBacklog);
        await using var reader = await command.ExecuteReaderAsync(cancellationToken);
        await reader.ReadAsync(cancellationToken);
        return new OutboxBacklog(
            reader.GetInt64(0), await reader.IsDBNullAsync(1, cancellationToken) ? null : reader.GetFieldValue<TimeSpan>(1));
    }

    /// <summary>Claims what a message sent and what still waits of it; <see langword="null"/> where somebody else has it.</summary>
    /// <exception cref="NpgsqlException">The database cannot be reached.</exception>
    public async Task<OutboxClaim?> ClaimAsync(Guid messageId, CancellationToken cancellationToken)
    {
        var connection = await LocalTransaction.OpenAsync(data, isolation, cancellationToken);
        try
        {
            if (await ClaimUndispatchedAsync(connection, messageId, cancellationToken) is { } records)
                return new OutboxClaim(connection, statements, messageId, records);
        }
        catch
        {
            await connection.DisposeAsync();
            throw;
        }

        await connection.DisposeAsync();
        return null;
    }

    private async Task<IReadOnlyCollection<OutgoingMessage>> HandleAsync(
        MessagePipeline pipeline, ReceivedMessage message, NpgsqlConnection connection, CancellationToken cancellationToken)
    {
        try
        {
            return await LentWork.RunAsync(pipeline, message, connection, cancellationToken);
        }
        catch (Exception failure) when (failure is not (UnreadableMessageException or ServerRefusedException or OperationCanceledException))
        {
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

    /// <summary>A second statement reads the records: it sees what was deleted before the lock was granted.</summary>
    private async Task<IReadOnlyList<OutboxRecord>?> ClaimUndispatchedAsync(
        NpgsqlConnection connection, Guid messageId, CancellationToken cancellationToken)
    {
        await using var batch = new NpgsqlBatch(connection)
        {
            BatchCommands = { statements.Claiming(messageId), statements.ReadingUndispatched(messageId) },
        };
        await using var reader = await batch.ExecuteReaderAsync(cancellationToken);
        await reader.ReadAsync(cancellationToken);
        if (!reader.GetBoolean(0))
            return null;

        await reader.NextResultAsync(cancellationToken);
        var records = new List<OutboxRecord>();
        while (await reader.ReadAsync(cancellationToken))
        {
            var message = new OutgoingMessage(reader.GetString(1), reader.GetGuid(2), reader.GetString(3), reader.GetFieldValue<byte[]>(4));
            records.Add(new OutboxRecord(reader.GetInt32(0), message));
        }

        return records;
    }

    private async Task CommitAsync(NpgsqlConnection connection, Guid messageId, IReadOnlyCollection<OutboxRecord> records)
    {
        await using var batch = new NpgsqlBatch(connection);
        foreach (var (position, send) in records)
        {
            batch.BatchCommands.Add(OutboxStatements.Command(
                statements.Send, messageId, position, send.MessageId, send.Queue, send.Type, send.Body));
        }

        // In a failed transaction, and outside of one, PostgreSQL answers a commit with no error, and the driver does not look
        // (npgsql issue 6641). A savepoint is an error in both.
        batch.BatchCommands.Add(OutboxStatements.Command("SAVEPOINT kit"));
        batch.BatchCommands.Add(OutboxStatements.Command("COMMIT"));
        // Without a token: a cancelled commit could have committed.
        await batch.ExecuteNonQueryAsync(CancellationToken.None);
    }

    private async Task DeleteAsync(Guid messageId, IReadOnlyCollection<OutboxRecord> dispatched, CancellationToken cancellationToken)
    {
        await using var batch = data.CreateBatch();
        batch.BatchCommands.Add(statements.Forgetting(messageId, dispatched));
        await batch.ExecuteNonQueryAsync(cancellationToken);
    }
}
