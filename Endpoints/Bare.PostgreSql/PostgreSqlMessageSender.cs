using System.Data.Common;
using System.Text.Json;
using Npgsql;

namespace Kit.Endpoints.Bare.PostgreSql;

/// <summary>Sends into queues in PostgreSQL, on a connection of its own or in the caller's transaction.</summary>
internal sealed class PostgreSqlMessageSender(DatabaseAccess queues, JsonSerializerOptions? json)
    : MessageSender(PostgreSqlEndpoint.MessagingSystem, json), IAsyncDisposable
{
    private readonly OpenedSource source = queues.Open(enlist: false);

    public ValueTask DisposeAsync() => source.DisposeAsync();

    protected override async Task SendAsync(OutgoingMessage message, DbTransaction? transaction, CancellationToken cancellationToken)
    {
        if (transaction is not null)
        {
            await SendInAsync(transaction, message, cancellationToken);
            return;
        }

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
        var (there, here) = (connection.Database, queues.Settings.Database ?? queues.Settings.Username);
        return there == here
            ? connection
            : throw new NotSupportedException($"The transaction is in database '{there}', and the queues are in '{here}'.");
    }
}
