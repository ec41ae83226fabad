using System.Text;
using Kit.Endpoints.Bare;
using Kit.Endpoints.Bare.RabbitMq;
using RabbitMQ.Client;

namespace Kit.Endpoints.Cells;

/// <summary>A RabbitMQ queue of a framework that creates its own queues, and that writes in its own headers why a message was given up.</summary>
/// <param name="queue">The queue itself. Its messages are the same for every framework.</param>
/// <param name="addressed">Writes the queue for a reply, if a message names one, as the framework reads it.</param>
/// <param name="deadLetterOf">Reads the properties of a message in the error queue.</param>
/// <param name="idOf">Reads the id from a message's own id and its body; by default it is its own id.</param>
internal sealed class RabbitMqCellQueue(
    RabbitMqQueue queue, Func<OutgoingMessage, OutgoingMessage> addressed, Func<CancellationToken, Task> create,
    Func<Type, CancellationToken, Task> subscribe, Func<IReadOnlyBasicProperties, DeadLetter> deadLetterOf,
    Func<Guid, ReadOnlyMemory<byte>, Guid>? idOf = null) : IPushedQueue
{
    public string Name => queue.Name;

    public Task CreateAsync(CancellationToken cancellationToken) => create(cancellationToken);

    public Task SubscribeAsync(Type eventType, CancellationToken cancellationToken) => subscribe(eventType, cancellationToken);

    public Task EnqueueAsync(IEnumerable<OutgoingMessage> messages, CancellationToken cancellationToken) =>
        queue.EnqueueAsync(messages.Select(addressed), cancellationToken);

    public Task<long> CountAsync(CancellationToken cancellationToken) => queue.CountAsync(cancellationToken);

    public Task<IReadOnlyList<Guid>> ReadMessagesAsync(CancellationToken cancellationToken) => queue.ReadBodiesAsync(IdOf, cancellationToken);

    public Task<IReadOnlyList<T>> ReadBodiesAsync<T>(Func<Guid, ReadOnlyMemory<byte>, T> read, CancellationToken cancellationToken) =>
        queue.ReadBodiesAsync((id, body) => read(IdOf(id, body), body), cancellationToken);

    public Task<int?> ReadBodySizeAsync(CancellationToken cancellationToken) => queue.ReadBodySizeAsync(cancellationToken);

    public Task<IAsyncDisposable> ConsumeAsync(
        Action<Guid, ReadOnlyMemory<byte>> take, Action<Exception> lose, CancellationToken cancellationToken) =>
        queue.ConsumeAsync((id, body) => take(IdOf(id, body), body), lose, cancellationToken);

    public async Task<IReadOnlyList<DeadLetter>> ReadErrorsAsync(CancellationToken cancellationToken) =>
        [.. (await queue.ReadErrorPropertiesAsync(cancellationToken)).Select(deadLetterOf)];

    public ValueTask DisposeAsync() => queue.DisposeAsync();

    private Guid IdOf(Guid id, ReadOnlyMemory<byte> body) => idOf is null ? id : idOf(id, body);

    /// <summary>A header as text; <see langword="null"/> if the message has none with that name.</summary>
    public static string? HeaderOf(IReadOnlyBasicProperties properties, string name) =>
        properties.Headers?.TryGetValue(name, out var value) is true ? value is byte[] text ? Encoding.UTF8.GetString(text) : $"{value}" : null;
}
