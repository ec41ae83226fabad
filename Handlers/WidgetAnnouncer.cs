namespace Kit.Handlers;

/// <summary>Builds a widget and announces it.</summary>
/// <param name="builder">Builds it.</param>
/// <param name="queue">The queue that the announcement goes to.</param>
public sealed class WidgetAnnouncer(WidgetBuilder builder, string queue)
{
    public async Task BuildAsync(BuildWidget message, IMessageContext context, CancellationToken cancellationToken)
    {
        await builder.BuildAsync(message, context, cancellationToken);
        await context.SendAsync(queue, new WidgetBuilt(message.MessageId), cancellationToken);
    }
}
