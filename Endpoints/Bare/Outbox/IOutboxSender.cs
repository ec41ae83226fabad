namespace Kit.Endpoints.Bare.Outbox;

/// <summary>The dispatcher's own connection to the queues, for one search of the outbox.</summary>
internal interface IOutboxSender : IAsyncDisposable
{
    /// <summary>Sends a message durably.</summary>
    /// <param name="message">The message.</param>
    /// <param name="cancellationToken">Ends the wait for queues that take no message at the moment. A send under way is not cancelled.</param>
    /// <returns><see langword="null"/>, or why its queue refuses it.</returns>
    /// <exception cref="Exception">The driver's exception: the queues cannot be reached.</exception>
    Task<Refusal?> SendAsync(OutgoingMessage message, CancellationToken cancellationToken);
}
