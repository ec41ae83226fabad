namespace Kit.Handlers;

/// <summary>Transforms each message's order and forwards the result.</summary>
/// <param name="transform">How.</param>
/// <param name="queue">The queue that the result goes to.</param>
public sealed class OrderTransformer(IOrderTransform transform, string queue)
{
    public Task TransformAsync(BuildWidget message, IMessageContext context, CancellationToken cancellationToken) => context.SendAsync(
        queue, new WidgetBuilt(message.MessageId) { Document = transform.Transform(OrderDocument.In(message)) }, cancellationToken);
}
