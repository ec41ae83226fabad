namespace Kit.Handlers;

/// <summary>Transforms each message's order, looks a row up by its id, and replies with both.</summary>
/// <param name="transform">How.</param>
public sealed class OrderLookup(IOrderTransform transform)
{
    public async Task AnswerAsync(BuildWidget message, IMessageContext context, CancellationToken cancellationToken)
    {
        var order = transform.Transform(OrderDocument.In(message));
        var found = await WidgetLookup.FindAsync(message, context, cancellationToken);
        await context.ReplyAsync(new WidgetBuilt(message.MessageId) { Document = ReplyWith(order, found) }, cancellationToken);
    }

    /// <summary>The reply with an order that was transformed and a row that was found.</summary>
    public static string ReplyWith(string order, Widget found) => $"<reply>{WidgetLookup.ReplyWith(found)}{order}</reply>";
}
