using Npgsql;
using NpgsqlTypes;

namespace Kit.Endpoints.Bare.PostgreSql;

/// <summary>A message that was given up, as it lies in the error table.</summary>
/// <param name="MessageId">Its identity.</param>
/// <param name="FailedAttempts">How often it was handled without success; 0 when it could not be read.</param>
/// <param name="Reason">Why it was given up.</param>
public sealed record DeadLetter(Guid MessageId, int FailedAttempts, string Reason);

/// <summary>Creates, fills, counts and drops a queue, whether or not its endpoint runs.</summary>
/// <exception cref="NpgsqlException">Every member: the database cannot be reached or refused the statement.</exception>
public sealed class PostgreSqlQueue(NpgsqlDataSource source, string name)
{
    private readonly QueueStatements statements = new(name);

    public Task CreateAsync(CancellationToken cancellationToken) => ExecuteAsync(statements.Create, cancellationToken);

    public Task DropAsync(CancellationToken cancellationToken) => ExecuteAsync(statements.Drop, cancellationToken);

    /// <summary>Adds messages in one transaction, by binary COPY.</summary>
    public async Task EnqueueAsync(IEnumerable<OutgoingMessage> messages, CancellationToken cancellationToken)
    {
        await using var connection = await source.OpenConnectionAsync(cancellationToken);
        await using var rows = await connection.BeginBinaryImportAsync(statements.Copy, cancellationToken);
        foreach (var message in messages)
        {
            await rows.StartRowAsync(cancellationToken);
            await rows.WriteAsync(message.MessageId, NpgsqlDbType.Uuid, cancellationToken);
            await rows.WriteAsync(message.Type, NpgsqlDbType.Text, cancellationToken);
            await rows.WriteAsync(message.Body, NpgsqlDbType.Bytea, cancellationToken);
        }

        await rows.CompleteAsync(cancellationToken);
    }

    /// <summary>How many messages lie in the queue, those included that are being handled.</summary>
    public async Task<long> CountAsync(CancellationToken cancellationToken)
    {
        await using var command = source.CreateCommand(statements.Count);
        return (long)(await command.ExecuteScalarAsync(cancellationToken))!;
    }

    public async Task<IReadOnlyList<DeadLetter>> ReadErrorsAsync(CancellationToken cancellationToken)
    {
        await using var command = source.CreateCommand(statements.ReadErrors);
        await using var reader = await command.ExecuteReaderAsync(cancellationToken);
        var letters = new List<DeadLetter>();
        while (await reader.ReadAsync(cancellationToken))
            letters.Add(new DeadLetter(reader.GetGuid(0), reader.GetInt32(1), reader.GetString(2)));

        return letters;
    }

    private async Task ExecuteAsync(string statement, CancellationToken cancellationToken)
    {
        await using var command = source.CreateCommand(statement);
        await command.ExecuteNonQueryAsync(cancellationToken);
    }
}
