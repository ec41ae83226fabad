using System.Xml;
using System.Xml.XPath;

namespace Kit.Handlers;

/// <summary>Forwards each order to the queue of its region, which an XPath expression finds in the document.</summary>
/// <param name="north">The queue for orders of the north.</param>
/// <param name="south">The queue for orders of the south.</param>
public sealed class OrderRouter(string north, string south)
{
    private static readonly XPathExpression Region = XPathExpression.Compile("string(/order/@region)");

    public Task RouteAsync(BuildWidget message, IMessageContext context, CancellationToken cancellationToken)
    {
        var order = OrderDocument.In(message);
        return context.SendAsync(QueueFor(order), new WidgetBuilt(message.MessageId) { Document = order }, cancellationToken);
    }

    private string QueueFor(string order)
    {
        using var reader = XmlReader.Create(new StringReader(order));
        return new XPathDocument(reader).CreateNavigator().Evaluate(Region) switch
        {
            OrderDocument.North => north,
            OrderDocument.South => south,
            var other => throw new InvalidOperationException(
                $"Expected the region '{OrderDocument.North}' or '{OrderDocument.South}' in an order, and found '{other}'. No queue takes it."),
        };
    }
}
