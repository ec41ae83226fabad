namespace Kit.Endpoints.Bare;

/// <summary>
/// Access to a queue from outside its endpoint, whether or not that runs: to fill it, and to count what is left. The contract is the same for
/// every transport and framework. It throws its driver's exceptions.
/// </summary>
public interface IMessageQueue : IAsyncDisposable
{
    string Name { get; }

    /// <summary>Creates the queue and its error queue, as its endpoint needs them.</summary>
    Task CreateAsync(CancellationToken cancellationToken);

    /// <summary>
    /// Subscribes the queue, which must exist, to a type of event: each one that is published from then on arrives in it. A queue can subscribe again;
    /// that changes nothing.
    /// </summary>
    /// <param name="eventType">The type that publishers publish, not one that it is derived from.</param>
    /// <param name="cancellationToken">Ends it.</param>
    Task SubscribeAsync(Type eventType, CancellationToken cancellationToken);

    /// <summary>Adds messages, durably.</summary>
    Task EnqueueAsync(IEnumerable<OutgoingMessage> messages, CancellationToken cancellationToken);

    /// <summary>How many messages are left, including those that are being handled.</summary>
    Task<long> CountAsync(CancellationToken cancellationToken);

    /// <summary>The ids of the messages that are left, in the queue's order.</summary>
    Task<IReadOnlyList<Guid>> ReadMessagesAsync(CancellationToken cancellationToken);

    /// <summary>The messages that are left, in the queue's order, each as a function makes it of its id and body.</summary>
    /// <param name="read">Called once for each message. The body is valid until it returns.</param>
    /// <param name="cancellationToken">Ends the reading.</param>
    Task<IReadOnlyList<T>> ReadBodiesAsync<T>(Func<Guid, ReadOnlyMemory<byte>, T> read, CancellationToken cancellationToken);

    /// <summary>The size in bytes of the first message's stored body; <see langword="null"/> if there is no message.</summary>
    Task<int?> ReadBodySizeAsync(CancellationToken cancellationToken);

    /// <summary>The messages that were given up, in the order in which they failed.</summary>
    Task<IReadOnlyList<DeadLetter>> ReadErrorsAsync(CancellationToken cancellationToken);
}
