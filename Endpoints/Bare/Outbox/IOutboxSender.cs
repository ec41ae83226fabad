namespace Kit.Endpoints.Bare.Outbox;

/// <summary>The dispatcher's own connection to the queues, for one search of the outbox.</summary>
internal interface IOutboxSender : IAsyncDisposable
{
    /// <summary>Sends a message durably.</summary>
    /// <returns><see langword="null"/>, or why its queue refuses it.</returns>
    /// <exception cref="Exception">The driver's exception: the queues cannot be reached.</exception>
    Task<string?> SendAsync(OutgoingMessage message);
}
