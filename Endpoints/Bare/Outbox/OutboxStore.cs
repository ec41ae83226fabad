using System.Collections.Concurrent;
using System.Data;
using System.Globalization;
using Kit.Endpoints.Bare.Health;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Logging.Abstractions;
using Npgsql;

namespace Kit.Endpoints.Bare.Outbox;

/// <summary>
/// The tables of one endpoint's outbox: the handled messages, and those of their sends that wait to be dispatched. Known as transactional
/// outbox.
/// </summary>
/// <param name="data">The handlers' database.</param>
/// <param name="endpoint">The endpoint's name.</param>
/// <param name="isolation">The isolation level of its transactions.</param>
/// <param name="retention">How long the ids of handled messages are kept; <see langword="null"/>: for ever.</param>
internal sealed class OutboxStore(NpgsqlDataSource data, string endpoint, IsolationLevel isolation, TimeSpan? retention)
{
    private const int ForgettingRounds = 10;

    private readonly ConcurrentQueue<(Guid MessageId, IReadOnlyCollection<OutboxRecord> Dispatched)> unforgotten = new();
    private OutboxStatements statements = new(endpoint);
    private OwnSession? own;

    /// <inheritdoc cref="LocalTransaction.CommitAsync" path="/param[@name='isFlushed']"/>
    public bool IsFlushed { get; init; }

    /// <summary>Says which messages are not handled.</summary>
    public ILogger Log { get; init; } = NullLogger.Instance;

    /// <summary>The handlers' side of it.</summary>
    public IdempotentScope Handlers => field ??= HandlersOn(data);

    /// <summary>The same on connections of another source to the same database.</summary>
    /// <exception cref="InvalidOperationException">It was not created.</exception>
    public IdempotentScope HandlersOn(NpgsqlDataSource source) =>
        new(source, statements, own ?? throw new InvalidOperationException($"Expected the outbox of '{endpoint}' to be created first."), isolation, Log)
        {
            IsFlushed = IsFlushed,
        };

    /// <summary>Creates the tables if they are missing. If they exist, the role needs no right to create tables.</summary>
    /// <exception cref="InvalidOperationException">
    /// An earlier version of the kit created the outbox, or a table lacks what the mode needs. The message has the statement to run.
    /// </exception>
    /// <exception cref="NpgsqlException">The database cannot be reached, or refuses.</exception>
    public async Task CreateAsync(CancellationToken cancellationToken)
    {
        await using var there = data.CreateCommand(OutboxStatements.AreThere);
        there.Parameters.Add(new NpgsqlParameter<string> { TypedValue = statements.Inbox });
        there.Parameters.Add(new NpgsqlParameter<string> { TypedValue = statements.Outbox });
        if (await there.ExecuteScalarAsync(cancellationToken) is true)
        {
            await RequireCurrentAsync(cancellationToken);
        }
        else
        {
            await using var create = data.CreateCommand(retention is null ? statements.Create : $"{statements.Create} {statements.IndexAge}");
            await create.ExecuteNonQueryAsync(cancellationToken);
        }

        var (inbox, outbox) = statements.Needs;
        statements = statements.In(
            await inbox.RequireAsync(endpoint, data, cancellationToken), await outbox.RequireAsync(endpoint, data, cancellationToken));
        own = await OwnSession.ReadAsync(data, cancellationToken);
        if (retention is not null)
            await RequireIndexOfAgeAsync(cancellationToken);
    }

    /// <summary>Deletes ids that need not be kept any longer, and so many that dispatching does not wait for long.</summary>
    /// <exception cref="NpgsqlException">The database cannot be reached, or refuses.</exception>
    public async Task ForgetOldAsync(CancellationToken cancellationToken)
    {
        if (retention is not { } age)
            return;

        for (var (round, deleted) = (0, OutboxStatements.OldAtOnce); round < ForgettingRounds && deleted == OutboxStatements.OldAtOnce; round++)
        {
            await using var delete = data.CreateCommand(statements.ForgetOld);
            delete.Parameters.Add(new NpgsqlParameter<TimeSpan> { TypedValue = age });
            deleted = await delete.ExecuteNonQueryAsync(cancellationToken);
        }
    }

    /// <summary>
    /// Records that these are dispatched. After a crash before that, they are sent again, with the same ids. If the database cannot be reached,
    /// <see cref="ForgetLateAsync"/> records it later.
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
            ForgetLater(messageId, dispatched);
        }
    }

    /// <summary>Records what <see cref="ForgetAsync"/> could not record.</summary>
    /// <exception cref="NpgsqlException">The database still cannot be reached, or refuses.</exception>
    public async Task ForgetLateAsync(CancellationToken cancellationToken)
    {
        while (unforgotten.TryPeek(out var late))
        {
            await DeleteAsync(late.MessageId, late.Dispatched, cancellationToken);
            unforgotten.TryDequeue(out _);
        }
    }

    /// <summary>Reads the next waiting records after those of a given message, except records for certain queues.</summary>
    /// <exception cref="NpgsqlException">The database cannot be reached.</exception>
    /// <exception cref="ServerRefusedException">It stopped waiting for its standbys.</exception>
    public async Task<IReadOnlyList<WaitingRecord>> ReadWaitingAsync(
        Guid after, IReadOnlyCollection<string> notFor, int atMost, CancellationToken cancellationToken)
    {
        await using var command = data.CreateCommand(statements.ReadWaiting);
        command.Parameters.Add(new NpgsqlParameter<Guid> { TypedValue = after });
        command.Parameters.Add(new NpgsqlParameter<string[]> { TypedValue = [.. notFor] });
        command.Parameters.Add(new NpgsqlParameter<int> { TypedValue = atMost });
        var records = new List<WaitingRecord>();
        // The driver reuses a reader for the next user of its connection: ended twice, it would end theirs.
        await using (var reader = await command.ExecuteReaderAsync(cancellationToken))
        {
            while (await reader.ReadAsync(cancellationToken))
                records.Add(new WaitingRecord(reader.GetGuid(0), reader.GetString(1)));
        }

        // A failover could take the handler's work back, and its sends would be those of an attempt that never was.
        if (IsFlushed && records.Count > 0)
            await LocalTransaction.AwaitStandbysAsync(data, cancellationToken);
        return records;
    }

    /// <summary>Reads how many sends wait, and for how long.</summary>
    /// <exception cref="NpgsqlException">The database cannot be reached.</exception>
    public async Task<OutboxBacklog> ReadBacklogAsync(CancellationToken cancellationToken)
    {
        await using var command = data.CreateCommand(statements.ReadBacklog);
        await using var reader = await command.ExecuteReaderAsync(cancellationToken);
        await reader.ReadAsync(cancellationToken);
        return new OutboxBacklog(
            reader.GetInt64(0), await reader.IsDBNullAsync(1, cancellationToken) ? null : reader.GetFieldValue<TimeSpan>(1));
    }

    /// <summary>The statement that deletes a waiting record, or without a position all those of a message.</summary>
    public string Deleting(Guid causationId, int? position) =>
        $"DELETE FROM {statements.Outbox} WHERE causation_id = '{causationId}'" +
        (position is null ? "" : string.Create(CultureInfo.InvariantCulture, $" AND position = {position}"));

    /// <summary>Claims the waiting sends of a message; <see langword="null"/> if somebody else has claimed them.</summary>
    /// <exception cref="NpgsqlException">The database cannot be reached, or would not let it forget them: it is read-only.</exception>
    public async Task<OutboxClaim?> ClaimAsync(Guid messageId, CancellationToken cancellationToken)
    {
        var local = await LocalTransaction.OpenAsync(data, isolation, cancellationToken);
        try
        {
            if (await ClaimUndispatchedAsync(local.Connection, messageId, cancellationToken) is { } records)
                return new OutboxClaim(local.Connection, statements, messageId, records, ForgetLater);
        }
        catch
        {
            await local.DisposeAsync();
            throw;
        }

        await local.DisposeAsync();
        return null;
    }

    /// <inheritdoc cref="ReadOnlyServer.Leave"/>
    public void LeaveReadOnly(Exception failure) => ReadOnlyServer.Leave(data, failure);

    private void ForgetLater(Guid messageId, IReadOnlyCollection<OutboxRecord> dispatched) => unforgotten.Enqueue((messageId, dispatched));

    private async Task RequireIndexOfAgeAsync(CancellationToken cancellationToken)
    {
        if (await IsSoAsync(OutboxStatements.LacksIndexOfAge, statements.Inbox, cancellationToken))
        {
            throw new InvalidOperationException(
                $"Endpoint '{endpoint}' cannot start: it keeps ids for {retention} (KeepHandledIdsFor), and its inbox has no index to find older ones. " +
                $"Run this once in the handlers' database: CREATE INDEX CONCURRENTLY ON {statements.Inbox} (handled_at)");
        }
    }

    private async Task RequireCurrentAsync(CancellationToken cancellationToken)
    {
        if (await IsSoAsync(OutboxStatements.IsOutdated, statements.Outbox, cancellationToken))
        {
            throw new InvalidOperationException(
                $"Endpoint '{endpoint}' cannot start: an earlier version of the kit created its outbox. " +
                $"Run this once in the handlers' database (it does not rewrite the table): {statements.Upgrade}");
        }
    }

    /// <summary>Asks a yes-or-no question about a table.</summary>
    private async Task<bool> IsSoAsync(string question, string table, CancellationToken cancellationToken)
    {
        await using var command = data.CreateCommand(question);
        command.Parameters.Add(new NpgsqlParameter<string> { TypedValue = table });
        return await command.ExecuteScalarAsync(cancellationToken) is true;
    }

    /// <summary>
    /// Claims in the connection's transaction. A second statement reads the records, so that it sees deletions from before the lock was granted.
    /// </summary>
    /// <returns>The waiting sends of the message; <see langword="null"/> if somebody else has claimed them.</returns>
    private async Task<IReadOnlyList<OutboxRecord>?> ClaimUndispatchedAsync(
        NpgsqlConnection connection, Guid messageId, CancellationToken cancellationToken)
    {
        await using var batch = new NpgsqlBatch(connection)
        {
            BatchCommands = { statements.RequiringToForget, statements.Claiming(messageId), statements.ReadingUndispatched(messageId) },
        };
        await using var reader = await batch.ExecuteReaderAsync(cancellationToken);
        await reader.ReadAsync(cancellationToken);
        if (!reader.GetBoolean(0))
            return null;

        await reader.NextResultAsync(cancellationToken);
        var records = new List<OutboxRecord>();
        while (await reader.ReadAsync(cancellationToken))
        {
            var message = new OutgoingMessage(reader.GetString(1), reader.GetGuid(2), reader.GetString(3), reader.GetFieldValue<byte[]>(4))
            {
                Headers = MessageHeaders.Read(await reader.IsDBNullAsync(5, cancellationToken) ? null : reader.GetString(5)),
                IsEvent = reader.GetBoolean(6),
            };
            records.Add(new OutboxRecord(reader.GetInt32(0), message));
        }

        return records;
    }

    private async Task DeleteAsync(Guid messageId, IReadOnlyCollection<OutboxRecord> dispatched, CancellationToken cancellationToken)
    {
        await using var batch = data.CreateBatch();
        batch.BatchCommands.Add(statements.Forgetting(messageId, dispatched));
        await batch.ExecuteNonQueryAsync(cancellationToken);
    }
}
