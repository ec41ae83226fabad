namespace Kit.Endpoints.Bare.Outbox;

/// <summary>The dispatcher's own connection to the queues, for one search of the outbox.</summary>
internal interface IOutboxSender : IAsyncDisposable
{
    /// <summary>Sends a message durably.</summary>
    /// <returns><see langword="null"/>, or why its queue does not take it.</returns>
    /// <exception cref="Exception">The queues cannot be reached; the driver's own exception.</exception>
    Task<string?> SendAsync(OutgoingMessage message);
}
