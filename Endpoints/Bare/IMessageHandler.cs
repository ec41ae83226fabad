namespace Kit.Endpoints.Bare;

/// <summary>
/// Handles one type of message. Each attempt has a service scope of its own, and a new instance unless the application registered it otherwise.
/// </summary>
public interface IMessageHandler<in TMessage>
{
    /// <summary>
    /// Handles the message. Returning means success; any exception means failure, which the endpoint's mode answers with
    /// a roll-back, a retry or the error queue.
    /// </summary>
    /// <param name="message">The message.</param>
    /// <param name="context">Lends a connection that obeys the mode, and sends messages that obey it too.</param>
    /// <param name="cancellationToken">Cancelled when the host stops waiting for handlers to finish.</param>
    Task HandleAsync(TMessage message, MessageContext context, CancellationToken cancellationToken);
}
