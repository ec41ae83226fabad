namespace Kit.Endpoints.Bare;

/// <summary>
/// A queue seen from outside, whether or not its endpoint runs: by whoever fills it and by whoever counts what is left. One contract for every
/// transport and framework. It throws what its driver throws.
/// </summary>
public interface IMessageQueue : IAsyncDisposable
{
    string Name { get; }

    /// <summary>Creates it and the queue of its errors, as its endpoint needs them.</summary>
    Task CreateAsync(CancellationToken cancellationToken);

    /// <summary>Adds messages, durably.</summary>
    Task EnqueueAsync(IEnumerable<OutgoingMessage> messages, CancellationToken cancellationToken);

    /// <summary>How many messages are left, those included that are being handled.</summary>
    Task<long> CountAsync(CancellationToken cancellationToken);

    /// <summary>The ids of the messages that are left, in the queue's order.</summary>
    Task<IReadOnlyList<Guid>> ReadMessagesAsync(CancellationToken cancellationToken);

    /// <summary>The bytes of the first message's body as they are stored, or <see langword="null"/> without a message.</summary>
    Task<int?> ReadBodySizeAsync(CancellationToken cancellationToken);

    /// <summary>The messages that were given up, in the order of failing.</summary>
    Task<IReadOnlyList<DeadLetter>> ReadErrorsAsync(CancellationToken cancellationToken);
}
