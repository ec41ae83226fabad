namespace Kit.Handlers;

/// <summary>What an endpoint gives a handler for one attempt at one message, whatever the framework.</summary>
public interface IMessageContext : IConnections
{
    /// <summary>Sends a message to a queue. The mode decides when, and in which transaction.</summary>
    Task SendAsync(string queue, WidgetBuilt message, CancellationToken cancellationToken);

    /// <summary>Publishes an event: each queue that has subscribed to its type gets it. The mode decides when, and in which transaction.</summary>
    Task PublishAsync(WidgetReady message, CancellationToken cancellationToken);
}
