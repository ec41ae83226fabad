using Npgsql;
using NpgsqlTypes;

namespace Kit.Endpoints.Bare.PostgreSql;

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

    /// <summary>The ids of the messages that lie in the queue, in its order.</summary>
    public Task<IReadOnlyList<Guid>> ReadMessagesAsync(CancellationToken cancellationToken) =>
        ReadAsync(statements.ReadMessages, row => row.GetGuid(0), cancellationToken);

    /// <summary>The bytes of the first message's body, or <see langword="null"/> without one.</summary>
    public async Task<int?> ReadBodySizeAsync(CancellationToken cancellationToken)
    {
        await using var command = source.CreateCommand(statements.ReadBodySize);
        return (int?)await command.ExecuteScalarAsync(cancellationToken);
    }

    public Task<IReadOnlyList<DeadLetter>> ReadErrorsAsync(CancellationToken cancellationToken) =>
        ReadAsync(statements.ReadErrors, row => new DeadLetter(row.GetGuid(0), row.GetInt32(1), row.GetString(2)), cancellationToken);

    private async Task<IReadOnlyList<T>> ReadAsync<T>(string query, Func<NpgsqlDataReader, T> read, CancellationToken cancellationToken)
    {
        await using var command = source.CreateCommand(query);
        await using var reader = await command.ExecuteReaderAsync(cancellationToken);
        var rows = new List<T>();
        while (await reader.ReadAsync(cancellationToken))
            rows.Add(read(reader));

        return rows;
    }

    private async Task ExecuteAsync(string statement, CancellationToken cancellationToken)
    {
        await using var command = source.CreateCommand(statement);
        await command.ExecuteNonQueryAsync(cancellationToken);
    }
}
