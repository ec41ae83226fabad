using System.Data.Common;
using System.Text.Json;
using Npgsql;

namespace Kit.Endpoints.Bare.PostgreSql;

/// <summary>Sends into queues in PostgreSQL, on a connection of its own or in the caller's transaction.</summary>
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
                $"There is no queue '{message.Queue}' in database '{Database}', and the message was not sent. " +
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
        // The driver runs a command in autocommit when its transaction has ended, without a word. A savepoint is an error then.
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
            throw new InvalidOperationException($"The transaction has ended, and the message to '{message.Queue}' was not sent. Send before it ends.", ended);
        }
    }

    private NpgsqlConnection ConnectionOf(DbTransaction transaction)
    {
        var connection = Given<NpgsqlTransaction>(transaction, "Npgsql").Connection!;
        // A table of the queue's name in a database of another name would take the message, and nobody would receive it.
        return connection.Database == Database
            ? connection
            : throw new NotSupportedException($"The transaction is in database '{connection.Database}', and the queues are in '{Database}'.");
    }
}
