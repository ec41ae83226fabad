using System.Text;
using Kit.Endpoints.Bare;
using Kit.Endpoints.Bare.RabbitMq;
using RabbitMQ.Client;

namespace Kit.Endpoints.Cells;

/// <summary>A queue in RabbitMQ of a framework that creates its queues in its own way, and tells in headers of its own why a message was given up.</summary>
/// <param name="queue">The queue itself, the same messages in it whatever the framework.</param>
/// <param name="create">Creates it.</param>
/// <param name="deadLetterOf">Reads what a message of the error queue tells.</param>
internal sealed class RabbitMqCellQueue(
    RabbitMqQueue queue, Func<CancellationToken, Task> create, Func<IReadOnlyBasicProperties, DeadLetter> deadLetterOf) : IMessageQueue
{
    public string Name => queue.Name;

    public Task CreateAsync(CancellationToken cancellationToken) => create(cancellationToken);

    public Task EnqueueAsync(IEnumerable<OutgoingMessage> messages, CancellationToken cancellationToken) => queue.EnqueueAsync(messages, cancellationToken);

    public Task<long> CountAsync(CancellationToken cancellationToken) => queue.CountAsync(cancellationToken);

    public Task<IReadOnlyList<Guid>> ReadMessagesAsync(CancellationToken cancellationToken) => queue.ReadMessagesAsync(cancellationToken);

    public Task<int?> ReadBodySizeAsync(CancellationToken cancellationToken) => queue.ReadBodySizeAsync(cancellationToken);

    public async Task<IReadOnlyList<DeadLetter>> ReadErrorsAsync(CancellationToken cancellationToken) =>
        [.. (await queue.ReadErrorPropertiesAsync(cancellationToken)).Select(deadLetterOf)];

    public ValueTask DisposeAsync() => queue.DisposeAsync();

    /// <summary>A header as text; <see langword="null"/> where the message has none of that name.</summary>
    public static string? HeaderOf(IReadOnlyBasicProperties properties, string name) =>
        properties.Headers?.TryGetValue(name, out var value) is true ? value is byte[] text ? Encoding.UTF8.GetString(text) : $"{value}" : null;
}
