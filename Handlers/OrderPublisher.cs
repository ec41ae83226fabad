namespace Kit.Handlers;

/// <summary>Publishes each message's document unchanged. It does not know who has subscribed.</summary>
public static class OrderPublisher
{
    public static Task PublishAsync(BuildWidget message, IMessageContext context, CancellationToken cancellationToken)
    {
        ArgumentNullException.ThrowIfNull(context);
        return context.PublishAsync(new WidgetReady(message.MessageId) { Document = OrderDocument.In(message) }, cancellationToken);
    }
}
