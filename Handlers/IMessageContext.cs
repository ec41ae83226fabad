namespace Kit.Handlers;

/// <summary>What an endpoint gives a handler for one attempt at one message, whatever the framework.</summary>
public interface IMessageContext : IConnections
{
    /// <summary>Sends a message to a queue, when and with what the mode says.</summary>
    Task SendAsync(string queue, WidgetBuilt message, CancellationToken cancellationToken);
}
