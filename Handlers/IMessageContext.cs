namespace Kit.Handlers;

/// <summary>What an endpoint gives a handler for one attempt at one message, whatever the framework.</summary>
public interface IMessageContext : IConnections
{
    /// <summary>Sends a message to a queue. The mode decides when, and in which transaction.</summary>
    Task SendAsync(string queue, WidgetBuilt message, CancellationToken cancellationToken);

    /// <summary>
    /// Replies to the address that the message names, with the framework's own reply. The mode decides when, and in which transaction, as it does for a
    /// send.
    /// </summary>
    /// <exception cref="Exception">The message names no address. The type is the framework's.</exception>
    Task ReplyAsync(WidgetBuilt message, CancellationToken cancellationToken);

    /// <summary>Publishes an event: each queue that has subscribed to its type gets it. The mode decides when, and in which transaction.</summary>
    Task PublishAsync(WidgetReady message, CancellationToken cancellationToken);
}
