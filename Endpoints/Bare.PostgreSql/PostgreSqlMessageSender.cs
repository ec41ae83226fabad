using System.Data.Common;
using System.Text.Json;
using Npgsql;

namespace Kit.Endpoints.Bare.PostgreSql;

/// <summary>Sends to queues in PostgreSQL, on its own connection or in the caller's transaction.</summary>
internal sealed class PostgreSqlMessageSender(DatabaseAccess queues, JsonSerializerOptions? json)
    : MessageSender(PostgreSqlEndpoint.MessagingSystem, json), IAsyncDisposable
{
    private readonly OpenedSource source = queues.Open(enlist: false);

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
        await batch.ExecuteNonQueryAsync(cancellationToken);
    }

    private async Task SendInAsync(DbTransaction transaction, OutgoingMessage message, CancellationToken cancellationToken)
    {
        // If the transaction has ended, the driver silently autocommits the command. A savepoint fails in that case.
        await using var batch = new NpgsqlBatch(ConnectionOf(transaction))
        {
            BatchCommands = { new NpgsqlBatchCommand("SAVEPOINT kit"), QueueStatements.Sending(message), new NpgsqlBatchCommand("RELEASE SAVEPOINT kit") },
        };
        try
        {
            await batch.ExecuteNonQueryAsync(cancellationToken);
        }
        catch (PostgresException ended) when (ended.SqlState == PostgresErrorCodes.NoActiveSqlTransaction)
        {
            throw new InvalidOperationException(
                $"The transaction has ended, so the message to '{message.Queue}' was not sent. Send before the transaction ends.", ended);
        }
    }

    private NpgsqlConnection ConnectionOf(DbTransaction transaction)
    {
        var connection = Given<NpgsqlTransaction>(transaction, "Npgsql").Connection!;
        // A table with the queue's name in another database would accept the message, and nobody would receive it.
        return connection.Database == Database
            ? connection
            : throw new NotSupportedException($"The transaction is in database '{connection.Database}', but the queues are in '{Database}'.");
    }
}
