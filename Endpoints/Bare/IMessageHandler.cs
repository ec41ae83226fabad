namespace Kit.Endpoints.Bare;

/// <summary>
/// Handles one message type. Each attempt has its own service scope, and a new handler unless the application registered it otherwise.
/// </summary>
public interface IMessageHandler<in TMessage>
{
    /// <summary>
    /// Handles the message. Returning means success. Any exception means failure: depending on its mode, the endpoint rolls back, retries or
    /// moves the message to the error queue.
    /// </summary>
    /// <param name="message">The message.</param>
    /// <param name="context">Lends a connection and sends messages, both according to the mode.</param>
    /// <param name="cancellationToken">Cancelled when the host stops waiting for handlers to finish.</param>
    Task HandleAsync(TMessage message, MessageContext context, CancellationToken cancellationToken);
}
