using Kit.Endpoints.Bare;
using Npgsql;
using Wolverine.Runtime.Serialization;

namespace Kit.Endpoints.Cells;

/// <summary>A queue on a broker with the messages that its endpoint has acknowledged and stored in its inbox.</summary>
/// <param name="queue">The queue on the broker, with its error queue.</param>
/// <param name="address">The address under which the inbox stores its messages.</param>
/// <param name="database">The connection string of the database with the inbox.</param>
internal sealed class WolverineInboxQueue(IMessageQueue queue, Uri address, string database) : IMessageQueue
{
    private readonly NpgsqlDataSource source = NpgsqlDataSource.Create(database);

    public string Name => queue.Name;

    public async Task CreateAsync(CancellationToken cancellationToken)
    {
        await WolverineInbox.CreateAsync(source, database, cancellationToken);
        await queue.CreateAsync(cancellationToken);
    }

    public Task SubscribeAsync(Type eventType, CancellationToken cancellationToken) => queue.SubscribeAsync(eventType, cancellationToken);

    public Task EnqueueAsync(IEnumerable<OutgoingMessage> messages, CancellationToken cancellationToken) =>
        queue.EnqueueAsync(messages, cancellationToken);

    // The queue first: a message that moves to the inbox in the meantime is counted twice rather than not at all.
    public async Task<long> CountAsync(CancellationToken cancellationToken)
    {
        var queued = await queue.CountAsync(cancellationToken);
        await using var command = Command("count(*)");
        return queued + (long)(await command.ExecuteScalarAsync(cancellationToken))!;
    }

    public Task<IReadOnlyList<Guid>> ReadMessagesAsync(CancellationToken cancellationToken) => ReadBodiesAsync((id, _) => id, cancellationToken);

    public async Task<IReadOnlyList<T>> ReadBodiesAsync<T>(Func<Guid, ReadOnlyMemory<byte>, T> read, CancellationToken cancellationToken)
    {
        var queued = await queue.ReadBodiesAsync((id, body) => (id, Read: read(id, body)), cancellationToken);
        var all = queued.Select(message => message.Read).ToList();
        var ids = queued.Select(message => message.id).ToHashSet();
        await using var command = Command("body");
        await using var reader = await command.ExecuteReaderAsync(cancellationToken);
        while (await reader.ReadAsync(cancellationToken))
        {
            var envelope = EnvelopeSerializer.Deserialize(reader.GetFieldValue<byte[]>(0));
            // Stored and not yet acknowledged, it is in both.
            if (WolverineEndpoint.IdOf(envelope.Id, envelope.Data) is var id && !ids.Contains(id))
                all.Add(read(id, envelope.Data));
        }

        return all;
    }

    public Task<int?> ReadBodySizeAsync(CancellationToken cancellationToken) => queue.ReadBodySizeAsync(cancellationToken);

    public Task<IReadOnlyList<DeadLetter>> ReadErrorsAsync(CancellationToken cancellationToken) => queue.ReadErrorsAsync(cancellationToken);

    public async ValueTask DisposeAsync()
    {
        await queue.DisposeAsync();
        await source.DisposeAsync();
    }

    private NpgsqlCommand Command(string columns)
    {
        var command = source.CreateCommand($"SELECT {columns} FROM {WolverineInbox.Unhandled}");
        command.Parameters.Add(new NpgsqlParameter<string> { TypedValue = address.ToString() });
        return command;
    }
}
