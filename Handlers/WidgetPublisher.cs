namespace Kit.Handlers;

/// <summary>Builds a widget and publishes that it is built. It does not know who has subscribed.</summary>
/// <param name="builder">Builds it.</param>
public sealed class WidgetPublisher(WidgetBuilder builder)
{
    public async Task BuildAsync(BuildWidget message, IMessageContext context, CancellationToken cancellationToken)
    {
        await builder.BuildAsync(message, context, cancellationToken);
        await context.PublishAsync(new WidgetReady(message.MessageId), cancellationToken);
    }
}
