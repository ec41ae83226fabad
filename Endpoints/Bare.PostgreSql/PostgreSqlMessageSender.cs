using System.Data.Common;
using System.Runtime.CompilerServices;
using System.Text.Json;
using Kit.Endpoints.Bare.PostgreSql.Queues;
using Kit.Endpoints.Bare.PostgreSql.TwoPhase;
using Npgsql;

namespace Kit.Endpoints.Bare.PostgreSql;

/// <summary>Sends to queues in PostgreSQL, on its own connection or in the caller's transaction.</summary>
internal sealed class PostgreSqlMessageSender(DatabaseAccess queues, JsonSerializerOptions? json)
    : MessageSender(PostgreSqlEndpoint.MessagingSystem, json), IAsyncDisposable
{
    private readonly OpenedSource source = queues.Open(enlist: false);
    private StrongBox<QueueDatabase>? identity;
    private OwnSession? own;

    private string? Database => queues.Settings.Database ?? queues.Settings.Username;

    public ValueTask DisposeAsync() => source.DisposeAsync();

    protected override async Task SendAsync(OutgoingMessage message, DbTransaction? transaction, CancellationToken cancellationToken)
    {
        try
        {
            await (transaction is null ? SendAloneAsync(message, cancellationToken) : SendInAsync(transaction, message, cancellationToken));
        }
        catch (PostgresException missing) when (missing.SqlState == PostgresErrorCodes.UndefinedTable)
        {
            throw new InvalidOperationException(
                $"There is no queue '{message.Queue}' in database '{Database}', so the message was not sent. " +
                "The endpoint that receives from the queue creates it when it starts.",
                missing);
        }
    }

    private async Task SendAloneAsync(OutgoingMessage message, CancellationToken cancellationToken)
    {
        await using var batch = source.Source.CreateBatch();
        batch.BatchCommands.Add(QueueStatements.Sending(message));
        try
        {
            await batch.ExecuteNonQueryAsync(cancellationToken);
        }
        catch (PostgresException refused)
        {
            ReadOnlyServer.Leave(source.Source, refused);
            throw;
        }
    }

    private async Task SendInAsync(DbTransaction transaction, OutgoingMessage message, CancellationToken cancellationToken)
    {
        var connection = Given<NpgsqlTransaction>(transaction, "Npgsql").Connection!;
        await using var batch = new NpgsqlBatch(connection);
        // If the transaction has ended, the driver silently autocommits the command. A savepoint fails in that case.
        batch.BatchCommands.Add(new NpgsqlBatchCommand("SAVEPOINT kit"));
        var isThere = HasAddressOfQueues(connection);
        // A table with the queue's name in another database would accept the message, and nobody would receive it.
        if (!isThere)
            batch.BatchCommands.Add((await ReadQueuesAsync(cancellationToken)).Require());
        // So would a table of another schema that the caller's search path finds first. Another connection of the application's pool may not be free.
        own ??= queues.IsGiven && isThere
            ? await OwnSession.ReadAsync(connection, cancellationToken)
            : await OwnSession.ReadAsync(source.Source, cancellationToken);
        foreach (var command in (IEnumerable<NpgsqlBatchCommand>)[.. own.Borrow, QueueStatements.Sending(message), OwnSession.GiveBack])
            batch.BatchCommands.Add(command);
        batch.BatchCommands.Add(new NpgsqlBatchCommand("RELEASE SAVEPOINT kit"));
        try
        {
            await batch.ExecuteNonQueryAsync(cancellationToken);
        }
        catch (PostgresException ended) when (ended.SqlState == PostgresErrorCodes.NoActiveSqlTransaction)
        {
            throw new InvalidOperationException(
                $"The transaction has ended, so the message to '{message.Queue}' was not sent. Send before the transaction ends.", ended);
        }
        catch (PostgresException elsewhere) when (QueueDatabase.IsElsewhere(elsewhere))
        {
            await PostgreSqlStatement.ExecuteAllAsync(connection, "ROLLBACK TO SAVEPOINT kit", "RELEASE SAVEPOINT kit");
            throw new NotSupportedException(
                $"The transaction is in database '{connection.Database}' at {connection.Host}:{connection.Port}, but the queues are in '{Database}' at " +
                $"{queues.Settings.Host}:{queues.Settings.Port}, so the message to '{message.Queue}' was not sent. No transaction spans two databases. " +
                "Keep the queues in the database of your rows, or send without the transaction after its commit, or send from a handler.",
                elsewhere);
        }
    }

    /// <summary>Then it is the same database, and nothing needs to be asked. Another address can be another name of the same one.</summary>
    private bool HasAddressOfQueues(NpgsqlConnection connection) =>
        connection.Database == Database && connection.Host == queues.Settings.Host && connection.Port == queues.Settings.Port;

    private async Task<QueueDatabase> ReadQueuesAsync(CancellationToken cancellationToken)
    {
        if (identity is not { } known)
            identity = known = new StrongBox<QueueDatabase>(await QueueDatabase.ReadAsync(source.Source, cancellationToken));

        return known.Value;
    }
}
