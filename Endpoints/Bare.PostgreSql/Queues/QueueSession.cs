using System.Data;
using System.Data.Common;
using System.Globalization;
using Kit.Endpoints.Bare.Tables;
using Npgsql;

namespace Kit.Endpoints.Bare.PostgreSql.Queues;

/// <summary>One worker's connection to its queue in PostgreSQL.</summary>
internal sealed class QueueSession : IQueueSession
{
    /// <summary>The savepoint between the receive and the work of a handler that was lent this connection.</summary>
    public const string BeforeHandler = "kit_before_handler";

    private const string TransactionId = "pg_current_xact_id";

    private readonly QueueSource source;
    private readonly NpgsqlBatch receive;
    private readonly QueueStatements statements;
    private readonly QueueSessionSettings settings;
    private readonly ReceiveAhead? ahead;
    private NpgsqlConnection connection;
    private NpgsqlBatch? receiveBatch;
    private (int Process, string Name) run;
    private long savepoints;
    private bool isBetweenLendings;

    private QueueSession(
        QueueSource source, NpgsqlConnection connection, QueueStatements statements, QueueSessionSettings settings)
    {
        this.source = source;
        this.connection = connection;
        this.statements = statements;
        this.settings = settings;
        receive = Receiving(settings.WithTransactionId ? statements.ReceiveWithTransactionId : statements.Receive);
        ahead = settings.ReceivesAhead ? new ReceiveAhead(this, settings.Isolation, statements) : null;
    }

    /// <summary>The connection, for lending to a handler, which must not close it.</summary>
    public NpgsqlConnection Connection => connection;

    private string BeforeSends => string.Create(CultureInfo.InvariantCulture, $"kit_before_sends_{savepoints}");

    public bool IsOpen => isBetweenLendings || connection.State == ConnectionState.Open;

    public static async Task<QueueSession> OpenAsync(
        QueueSource source,
        QueueStatements statements,
        QueueSessionSettings settings,
        CancellationToken cancellationToken)
    {
        var own = settings.IsLent ? source.ForLending() : source;
        NpgsqlConnection? opened = null;
        try
        {
            opened = await own.OpenAsync(cancellationToken);
            var session = new QueueSession(own, opened, statements, settings);
            await session.receive.PrepareAsync(cancellationToken);
            if (settings.WithTransactionId)
                await session.ReadRunAsync(cancellationToken);
            return session;
        }
        catch
        {
            if (opened is not null)
                await opened.DisposeAsync();
            if (settings.IsLent)
                await own.DisposeAsync();
            throw;
        }
    }

    public async ValueTask<NpgsqlTransaction> BeginAsync()
    {
        if (isBetweenLendings)
            await OpenAgainAsync();

        return await connection.BeginTransactionAsync(settings.Isolation);
    }

    /// <summary>Begins the transaction of a receive, or returns the one that the last commit has begun.</summary>
    /// <exception cref="Exception">The last commit could not receive. It did commit.</exception>
    public async ValueTask<NpgsqlTransaction> BeginReceiveAsync() => ahead?.TakeTransaction() ?? await BeginAsync();

    /// <summary>
    /// Closes the connection object that the handlers of this receive were lent, after its transaction has ended. Whoever still uses it is refused, instead of
    /// writing outside of a transaction or into that of the next message. If the commit has received the next message, the object stays that message's.
    /// </summary>
    public async Task EndLendingAsync()
    {
        if (!IsOpen || ahead is { HasMessage: true })
            return;

        isBetweenLendings = true;
        await connection.DisposeAsync();
    }

    /// <summary>The same. Its commit receives the next message, if the session was opened for that.</summary>
    /// <inheritdoc cref="BeginReceiveAsync" path="/exception"/>
    async ValueTask<DbTransaction> IQueueSession.BeginAsync()
    {
        var begun = await BeginReceiveAsync();
        return ahead is null ? begun : new CommitThatReceives(begun, ahead);
    }

    public async Task<QueuedMessage?> ReceiveAsync() => (await ReceiveWithTransactionIdAsync()).Message;

    /// <summary>Receives a message and, if the session was opened for it, the id of the receiving transaction.</summary>
    /// <exception cref="InvalidOperationException">The row belongs to another queue. It was not received.</exception>
    public async Task<(QueuedMessage? Message, ulong TransactionId)> ReceiveWithTransactionIdAsync()
    {
        if (ahead?.TakeMessage() is { } received)
            return (received, 0);

        await using var reader = await ExecuteReceiveAsync(receive);
        return await ReadOneAsync(reader, settings.WithTransactionId);
    }

    /// <summary>Reads the message that a receive has found.</summary>
    public static async Task<(QueuedMessage? Message, ulong TransactionId)> ReadOneAsync(NpgsqlDataReader reader, bool withTransactionId) =>
        await reader.ReadAsync()
            ? (Read(reader), withTransactionId ? reader.GetFieldValue<ulong>(reader.GetOrdinal(TransactionId)) : 0)
            : (null, 0);

    /// <summary>Receives at most that many messages, in the queue's order, and the id of the receiving transaction.</summary>
    /// <inheritdoc cref="ReceiveWithTransactionIdAsync" path="/exception"/>
    public async Task<(IReadOnlyList<QueuedMessage> Messages, ulong TransactionId)> ReceiveBatchAsync(int atMost)
    {
        receiveBatch ??= await PrepareBatchAsync();
        ((NpgsqlParameter<int>)receiveBatch.BatchCommands[^1].Parameters[1]).TypedValue = atMost;
        var (messages, transactionId) = (new List<QueuedMessage>(), 0UL);
        await using (var reader = await ExecuteReceiveAsync(receiveBatch))
        {
            while (await reader.ReadAsync())
            {
                messages.Add(Read(reader));
                transactionId = reader.GetFieldValue<ulong>(reader.GetOrdinal(TransactionId));
            }
        }

        // A lent session can be another one at each receive.
        if (messages.Count > 0 && connection.ProcessID != run.Process)
            await ReadRunAsync(CancellationToken.None);

        // RETURNING has no order.
        messages.Sort((one, other) => one.Position.CompareTo(other.Position));
        return (messages, transactionId);
    }

    public Task SendAsync(IReadOnlyCollection<OutgoingMessage> messages) => messages.Count == 0
        ? Task.CompletedTask
        : PostgreSqlStatement.ExecuteAllAsync(connection, messages.Select(QueueStatements.Sending));

    /// <summary>The same, and the commit will wait for the log and the standbys, whatever is set: see <see cref="StandbyWait"/>.</summary>
    public Task SendToStandbysAsync(IReadOnlyCollection<OutgoingMessage> messages) => messages.Count == 0
        ? Task.CompletedTask
        : PostgreSqlStatement.ExecuteAllAsync(connection, [.. messages.Select(QueueStatements.Sending), StandbyWait.Setting]);

    /// <summary>Writes the sends, and commits them with the receive and the work of the handler that was lent this connection.</summary>
    /// <exception cref="PostgresException">
    /// The handler left the transaction failed, or ended it. PostgreSQL reports no error for COMMIT in either case, but it does for the release
    /// of the savepoint.
    /// </exception>
    public Task CommitAsync(NpgsqlTransaction begun, IReadOnlyCollection<OutgoingMessage> messages)
    {
        IReadOnlyList<NpgsqlBatchCommand> beforeCommit =
        [
            .. messages.Count > 0 ? settings.Own.BeforeTheEnd : [], .. messages.Select(QueueStatements.Sending),
            new NpgsqlBatchCommand($"RELEASE SAVEPOINT {BeforeHandler}"),
        ];
        return ahead is null
            ? PostgreSqlStatement.ExecuteAllAsync(connection, beforeCommit.Append(new NpgsqlBatchCommand("COMMIT")))
            : ahead.CommitAsync(begun, beforeCommit);
    }

    /// <summary>Commits a batch. PostgreSQL reports no error for COMMIT of a failed transaction, but it does for the savepoint.</summary>
    /// <exception cref="PostgresException">The transaction had failed, or was ended.</exception>
    public Task CommitAsync() => PostgreSqlStatement.ExecuteAllAsync(connection, "SAVEPOINT kit", "COMMIT");

    /// <summary>
    /// Rolls the handler's work back and keeps the receive. If that is impossible, because the commit failed or the handler ended the
    /// transaction, rolls everything back.
    /// </summary>
    /// <returns>Whether the receive is still open.</returns>
    public async Task<bool> TryRollbackHandlerAsync()
    {
        try
        {
            await ExecuteAsync($"ROLLBACK TO SAVEPOINT {BeforeHandler}");
            return true;
        }
        catch (PostgresException gone) when (gone.SqlState is PostgresErrorCodes.NoActiveSqlTransaction or PostgresErrorCodes.InvalidSavepointSpecification)
        {
            await ExecuteAsync("ROLLBACK");
            return false;
        }
    }

    /// <summary>The receive of that id, for asking later whether it has committed. The session was opened with transaction ids, or received a batch.</summary>
    public RunningTransaction ReceiveOf(ulong transactionId) => new(transactionId, run.Name);

    /// <summary>Writes a message's sends after a savepoint of their own.</summary>
    public Task SendAfterSavepointAsync(IReadOnlyCollection<OutgoingMessage> messages)
    {
        // Another name for each message: where no savepoint was set, a roll-back fails instead of reaching that of a neighbour.
        savepoints++;
        return PostgreSqlStatement.ExecuteAllAsync(
            connection, [new NpgsqlBatchCommand($"SAVEPOINT {BeforeSends}"), .. settings.Own.Before, .. messages.Select(QueueStatements.Sending)]);
    }

    /// <summary>Rolls back the sends of the last <see cref="SendAfterSavepointAsync"/>.</summary>
    public Task RollSendsBackAsync() =>
        PostgreSqlStatement.ExecuteAllAsync(connection, $"ROLLBACK TO SAVEPOINT {BeforeSends}", $"RELEASE SAVEPOINT {BeforeSends}");

    /// <summary>Puts received messages back at their positions, without an attempt.</summary>
    public async Task PutBackAsync(IEnumerable<QueuedMessage> messages)
    {
        foreach (var message in messages)
            await RequeueAsync(message, TimeSpan.Zero);
    }

    public Task RollBackAsync() => ExecuteAsync("ROLLBACK");

    public Task RequeueAsync(QueuedMessage message, TimeSpan delay) =>
        StoreAsync(
            statements.Queue, statements.Requeue, message.Position, message.MessageId, message.Type, message.Body, message.FailedAttempts,
            MessageHeaders.Write(message.Headers), delay);

    public Task MoveToErrorsAsync(QueuedMessage message, Exception reason) =>
        StoreAsync(
            statements.Errors, statements.MoveToErrors, message.Position, message.MessageId, message.Type, message.Body, message.FailedAttempts,
            MessageHeaders.Write(message.Headers), Storable(Failure.Describe(reason)));

    public async Task<QueuedMessage?> TakeAsync(QueuedMessage message)
    {
        while (true)
        {
            if (await ScalarAsync(statements.Take, message.Position, message.MessageId) is int failedAttempts)
                return message with { FailedAttempts = failedAttempts };

            // Another worker had it, and may have put it back as a new row, which only a new statement sees.
            if (await ScalarAsync(statements.IsThere, message.Position, message.MessageId) is false)
                return null;
        }
    }

    public bool HasLostTransaction(Exception failure) => failure is PostgresException { SqlState: PostgresErrorCodes.InFailedSqlTransaction };

    public async ValueTask DisposeAsync()
    {
        await receive.DisposeAsync();
        if (receiveBatch is not null)
            await receiveBatch.DisposeAsync();
        await connection.DisposeAsync();
        if (settings.IsLent)
            await source.DisposeAsync();
    }

    private async Task OpenAgainAsync()
    {
        connection = await source.OpenAgainAsync();
        isBetweenLendings = false;
        foreach (var command in new[] { receive, receiveBatch }.OfType<NpgsqlBatch>())
        {
            command.Connection = connection;
            // The session still has the statement, unless it is another session: then this asks the server.
            await command.PrepareAsync();
        }
    }

    private async Task ReadRunAsync(CancellationToken cancellationToken) =>
        run = (connection.ProcessID, await RunningTransaction.ReadRunAsync(connection, cancellationToken));

    /// <summary>An exception can say what the database's encoding lacks, and its message would never be given up.</summary>
    private string Storable(string reason) => connection.PostgresParameters.GetValueOrDefault("server_encoding") switch
    {
        "UTF8" or "SQL_ASCII" => reason,
        "LATIN1" => Failure.Escaped(reason, last: '\u00FF'),
        _ => Failure.Escaped(reason, last: '\u007F'), // every other encoding of PostgreSQL begins with ASCII
    };

    private async Task<NpgsqlBatch> PrepareBatchAsync()
    {
        var receiving = Receiving(statements.ReceiveBatch, new NpgsqlParameter<int>());
        await receiving.PrepareAsync();
        return receiving;
    }

    /// <summary>A receive. In a session that handlers are lent, the settings go with it, because the driver may have reset them.</summary>
    private NpgsqlBatch Receiving(string statement, params IEnumerable<NpgsqlParameter> others)
    {
        var batch = new NpgsqlBatch(connection);
        if (settings.IsLent && source.Configuration is { } configuration)
            batch.BatchCommands.Add(new NpgsqlBatchCommand(configuration));
        batch.BatchCommands.Add(new NpgsqlBatchCommand(statement));
        batch.BatchCommands[^1].Parameters.Add(new NpgsqlParameter<string> { TypedValue = statements.Queue });
        foreach (var other in others)
            batch.BatchCommands[^1].Parameters.Add(other);

        return batch;
    }

    private async Task<NpgsqlDataReader> ExecuteReceiveAsync(NpgsqlBatch receiving)
    {
        try
        {
            var reader = await receiving.ExecuteReaderAsync();
            try
            {
                if (receiving.BatchCommands.Count > 1)
                    await reader.NextResultAsync();
                return reader;
            }
            catch
            {
                await reader.DisposeAsync();
                throw;
            }
        }
        catch (PostgresException foreign) when (foreign.SqlState == PostgresErrorCodes.DivisionByZero)
        {
            throw statements.OfAnotherTable(foreign);
        }
        catch (PostgresException refused)
        {
            // The pool can be one that the application gave.
            ReadOnlyServer.Leave(source.Source, refused);
            throw;
        }
    }

    private static QueuedMessage Read(NpgsqlDataReader reader) =>
        new(
            reader.GetInt64(0), reader.GetGuid(1), reader.GetString(2), reader.GetFieldValue<byte[]>(3), reader.GetInt32(4),
            MessageHeaders.Read(reader.IsDBNull(5) ? null : reader.GetString(5)));

    private Task ExecuteAsync(string statement) => PostgreSqlStatement.ExecuteAllAsync(connection, statement);

    /// <exception cref="NpgsqlException">The row was refused, or suppressed: with its receive the message would be gone.</exception>
    private async Task StoreAsync(string table, string insert, params object?[] values)
    {
        await using var batch = new NpgsqlBatch(connection) { BatchCommands = { PostgreSqlStatement.Of(insert, values) } };
        if (await batch.ExecuteNonQueryAsync() != 1)
            throw new NpgsqlException($"Table {table} has not stored the message: a trigger or a rule of the table suppresses its row.");
    }

    private async Task<object?> ScalarAsync(string statement, params object[] values)
    {
        await using var batch = new NpgsqlBatch(connection) { BatchCommands = { PostgreSqlStatement.Of(statement, values) } };
        return await batch.ExecuteScalarAsync();
    }
}
