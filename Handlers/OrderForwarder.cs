namespace Kit.Handlers;

/// <summary>Forwards each message's document unchanged.</summary>
/// <param name="queue">The queue that it goes to.</param>
public sealed class OrderForwarder(string queue)
{
    public Task ForwardAsync(BuildWidget message, IMessageContext context, CancellationToken cancellationToken) =>
        context.SendAsync(queue, new WidgetBuilt(message.MessageId) { Document = OrderDocument.In(message) }, cancellationToken);
}
