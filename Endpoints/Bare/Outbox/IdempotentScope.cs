using System.Data;
using System.Globalization;
using Microsoft.Extensions.Logging;
using Npgsql;
using NpgsqlTypes;

namespace Kit.Endpoints.Bare.Outbox;

/// <summary>
/// Handles each message once, however often it is delivered. The handler's own transaction records the message's id and the handler's sends, which
/// stay recorded until they are dispatched. Known as idempotent receiver (Hohpe and Woolf, "Enterprise Integration Patterns", 2003).
/// </summary>
/// <remarks>
/// Ids are kept for ever unless the endpoint was told a time, because it cannot know for how long a broker, an error queue or a sender may redeliver a
/// message. Deleting an id also deletes its sends, dispatched or not, so spare ids with waiting sends: <c>DELETE FROM orders_inbox i WHERE
/// handled_at &lt; … AND NOT EXISTS (SELECT FROM orders_outbox o WHERE o.causation_id = i.message_id)</c>.
/// </remarks>
internal sealed partial class IdempotentScope(
    NpgsqlDataSource data, OutboxStatements statements, OwnSession own, IsolationLevel isolation, ILogger log)
{
    /// <inheritdoc cref="LocalTransaction.CommitAsync" path="/param[@name='isFlushed']"/>
    public bool IsFlushed { get; init; }

    /// <summary>Handles a message and commits, unless that was done before.</summary>
    /// <returns>
    /// The handler's sends, to dispatch now. None if the message was handled before: its sends belong to the delivery that handled it, which may
    /// be dispatching them at this moment. After a crash the dispatcher has them.
    /// </returns>
    /// <exception cref="UnreadableMessageException">The message has no GUID as id, so it cannot be distinguished from others.</exception>
    /// <exception cref="TransactionEndedException">The handler itself committed. The id is deleted, so that the message can be handled again.</exception>
    /// <exception cref="Exception">
    /// The handler's exception, or a <see cref="PostgresException"/> if its transaction does not commit.
    /// </exception>
    public async Task<IReadOnlyList<OutboxRecord>> HandleOnceAsync(
        MessagePipeline pipeline, ReceivedMessage message, CancellationToken cancellationToken)
    {
        if (message.MessageId == Guid.Empty)
            throw new UnreadableMessageException("The message has no GUID as id, so the outbox cannot distinguish it from others.");

        await using var local = await OpenAsync(cancellationToken);
        if (await RecordAsync(local.Connection, message.MessageId, cancellationToken) is not { } record)
        {
            LogDiscarded(message.MessageId);
            await local.DisposeAsync();
            await AwaitStandbysAsync();
            return [];
        }

        IReadOnlyList<OutboxRecord>? committing = null;
        try
        {
            var sends = await LentWork.RunAsync(pipeline, message, local.Connection, local.Lent, cancellationToken);
            IReadOnlyList<OutboxRecord> records = [.. sends.Select((send, position) => new OutboxRecord(position, send))];
            committing = records;
            await CommitAsync(local, message.MessageId, records);
            return records;
        }
        catch (Exception failure)
        {
            var isAnswerLost = local.Connection.State != ConnectionState.Open;
            // Its connection is returned first, so that workers that all fail do not each wait for a second one.
            await local.DisposeAsync();
            var isUncertain = committing is not null && isAnswerLost && failure is NpgsqlException;
            // None handled it: the attempt has failed.
            if (await IsOfThisAttemptAsync(message.MessageId, record, isUncertain) is not { } isOfThisAttempt)
                throw;
            // Another delivery, which waited for this one's transaction or came after it, has handled the message; or this one has, and nobody was told.
            if (!isOfThisAttempt || isUncertain)
            {
                await AwaitStandbysAsync();
                return isOfThisAttempt ? committing! : [];
            }

            throw await UnrecordAsync(message.MessageId, failure);
        }
    }

    /// <summary>
    /// Whether the message's handler has committed. Waits for one that is committing, whose session may not notice that its client is gone.
    /// </summary>
    /// <exception cref="ServerRefusedException">The database does not answer, or the commit takes longer than a statement may.</exception>
    public async Task<bool> IsHandledAsync(Guid messageId, CancellationToken cancellationToken)
    {
        // Rolled back.
        await using var local = await OpenAsync(cancellationToken);
        try
        {
            return await RecordAsync(local.Connection, messageId, cancellationToken) is null;
        }
        catch (NpgsqlException unanswered)
        {
            throw new ServerRefusedException(unanswered);
        }
    }

    /// <summary>Before the message is forgotten: a failover must not take back the id that was found.</summary>
    /// <exception cref="ServerRefusedException">The database does not answer, or stopped waiting.</exception>
    private async Task AwaitStandbysAsync()
    {
        if (!IsFlushed)
            return;

        try
        {
            await LocalTransaction.AwaitStandbysAsync(data, CancellationToken.None);
        }
        catch (NpgsqlException unanswered)
        {
            throw new ServerRefusedException(unanswered);
        }
    }

    /// <returns>Whether this attempt has handled the message, and not another delivery; <see langword="null"/> if none has.</returns>
    /// <exception cref="ServerRefusedException">
    /// Nobody answers, and the handler's commit may have happened: the attempt is not counted, and the next one finds the id.
    /// </exception>
    private async Task<bool?> IsOfThisAttemptAsync(Guid messageId, Record record, bool isUncertain)
    {
        if (isUncertain && !await IsHandledAsync(messageId, CancellationToken.None))
            return null;

        try
        {
            await using var command = data.CreateCommand(statements.IsOwn);
            command.Parameters.Add(new NpgsqlParameter<Guid> { TypedValue = messageId });
            command.Parameters.Add(new NpgsqlParameter<DateTime> { TypedValue = record.At, NpgsqlDbType = NpgsqlDbType.TimestampTz });
            command.Parameters.Add(new NpgsqlParameter<string> { TypedValue = record.TransactionId.ToString(CultureInfo.InvariantCulture) });
            // Without a token: a handler that was cancelled may have committed, too.
            return await command.ExecuteScalarAsync(CancellationToken.None) as bool?;
        }
        catch (NpgsqlException unanswered) when (isUncertain)
        {
            throw new ServerRefusedException(unanswered);
        }
    }

    /// <summary>
    /// The handler itself committed, and with it the id, so the message would count as handled. This deletes the id, and the message goes to the
    /// error queue.
    /// </summary>
    /// <returns>What to throw. If the id could not be deleted, it says so.</returns>
    private async Task<TransactionEndedException> UnrecordAsync(Guid messageId, Exception failure)
    {
        try
        {
            await using var command = data.CreateCommand(statements.Unrecord);
            command.Parameters.Add(new NpgsqlParameter<Guid> { TypedValue = messageId });
            await command.ExecuteNonQueryAsync(CancellationToken.None);
            return new TransactionEndedException(failure);
        }
        catch (NpgsqlException undeleted)
        {
            return new TransactionEndedException(new InvalidOperationException(
                $"{failure.Message} Delete the message's id from {statements.Inbox} before you return the message, or the endpoint discards it. The " +
                $"endpoint could not delete it: {undeleted.Message}",
                failure));
        }
    }

    private async Task<LocalTransaction> OpenAsync(CancellationToken cancellationToken)
    {
        try
        {
            return await LocalTransaction.OpenToLendAsync(data, isolation, cancellationToken);
        }
        catch (Exception refused) when (refused is not OperationCanceledException)
        {
            throw new ServerRefusedException(refused);
        }
    }

    /// <returns><see langword="null"/> if the message was handled before.</returns>
    private async Task<Record?> RecordAsync(NpgsqlConnection connection, Guid messageId, CancellationToken cancellationToken)
    {
        await using var record = new NpgsqlCommand(statements.Record, connection);
        record.Parameters.Add(new NpgsqlParameter<Guid> { TypedValue = messageId });
        try
        {
            await using var row = await record.ExecuteReaderAsync(cancellationToken);
            return await row.ReadAsync(cancellationToken) ? new Record(row.GetFieldValue<DateTime>(0), row.GetFieldValue<ulong>(1)) : null;
        }
        // No handler has run, so the message has not failed. Another delivery of it can have been in a handler for longer than the command, lock or statement
        // time-out, perhaps on a machine that is gone.
        catch (NpgsqlException late) when (FailureKinds.OfPostgreSql.IsTimeout(late))
        {
            var known = late.SqlState is PostgresErrorCodes.LockNotAvailable
                ? "because another session holds a lock, as one does that handles another delivery of the message"
                : "in time: another session may be handling another delivery of the message, or the server is slow";
            throw new ServerRefusedException(new NpgsqlException($"The id of message {messageId} was not recorded {known}. {late.Message}", late))
            {
                IsOfOneMessage = true,
            };
        }
        // Or the session was lost while it was idle, as all are after a crash of the server.
        catch (NpgsqlException lost) when (FailureKinds.OfPostgreSql.Of(lost) is FailureKind.SessionLost)
        {
            throw new ServerRefusedException(lost);
        }
        // No handler has run, so it is the server that is read-only, or this session leads to a former primary, as others of the pool may.
        catch (PostgresException refused) when (NpgsqlErrors.IsReadOnly(refused))
        {
            data.Clear();
            throw new ServerRefusedException(refused);
        }
    }

    // Without a token: a cancelled commit could have committed.
    private Task CommitAsync(LocalTransaction local, Guid messageId, IReadOnlyCollection<OutboxRecord> records) => local.CommitAsync(
        IsFlushed,
    [
        .. records.Count > 0 ? own.BeforeTheEnd : [],
        .. records.Select(record => statements.Sending(messageId, record.Position, record.Message)),
    ]);

    [LoggerMessage(
        Level = LogLevel.Information,
        Message = "Message {MessageId} is not handled: a message with its id was handled before. If this is another message, its sender must give it an " +
            "id of its own.")]
    private partial void LogDiscarded(Guid messageId);

    /// <summary>The record of one attempt.</summary>
    private readonly record struct Record(DateTime At, ulong TransactionId);
}
