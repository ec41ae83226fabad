using Kit.Handlers;

namespace Kit.Endpoints.Cells;

/// <summary>A message that was given up.</summary>
/// <param name="MessageId">Its identity.</param>
/// <param name="Attempts">How often it was handled without success; <see langword="null"/> where the transport does not say.</param>
/// <param name="Reason">Why it was given up.</param>
public sealed record GivenUp(Guid MessageId, int? Attempts, string Reason);

/// <summary>A queue seen from outside: by whoever preloads it and by whoever counts what is left.</summary>
public interface ICellQueue : IAsyncDisposable
{
    Task CreateAsync(CancellationToken cancellationToken);

    /// <summary>Adds messages, durably, whether or not the endpoint runs.</summary>
    Task PreloadAsync(IReadOnlyCollection<BuildWidget> messages, CancellationToken cancellationToken);

    /// <summary>Adds a message of the right type whose body cannot be read.</summary>
    Task PreloadUnreadableAsync(Guid messageId, CancellationToken cancellationToken);

    /// <summary>How many messages are left, those being handled included.</summary>
    Task<long> CountAsync(CancellationToken cancellationToken);

    /// <summary>The messages that are left, for the accounting.</summary>
    Task<IReadOnlyList<Guid>> ReadMessagesAsync(CancellationToken cancellationToken);

    /// <summary>The bytes of the first message's body as they are stored, or <see langword="null"/> without a message.</summary>
    Task<int?> ReadBodySizeAsync(CancellationToken cancellationToken);

    Task<IReadOnlyList<GivenUp>> ReadErrorsAsync(CancellationToken cancellationToken);
}
