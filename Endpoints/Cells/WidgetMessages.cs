using Kit.Endpoints.Bare;
using Kit.Handlers;

namespace Kit.Endpoints.Cells;

/// <summary>Puts the kit's messages into a queue from outside.</summary>
public static class WidgetMessages
{
    /// <summary>Adds messages, durably, whether or not the endpoint runs.</summary>
    public static Task PreloadAsync(this IMessageQueue queue, IEnumerable<BuildWidget> messages, CancellationToken cancellationToken)
    {
        ArgumentNullException.ThrowIfNull(queue);
        return queue.EnqueueAsync(messages.Select(message => In(queue, message)), cancellationToken);
    }

    /// <summary>Adds a message of the right type whose body cannot be read.</summary>
    public static Task PreloadUnreadableAsync(this IMessageQueue queue, Guid messageId, CancellationToken cancellationToken)
    {
        ArgumentNullException.ThrowIfNull(queue);
        return queue.EnqueueAsync([In(queue, new BuildWidget(messageId)) with { Body = "{ no JSON"u8.ToArray() }], cancellationToken);
    }

    /// <summary>Adds a message of a type that no endpoint knows.</summary>
    public static Task PreloadOfUnknownTypeAsync(this IMessageQueue queue, Guid messageId, CancellationToken cancellationToken)
    {
        ArgumentNullException.ThrowIfNull(queue);
        return queue.EnqueueAsync([In(queue, new BuildWidget(messageId)) with { Type = "Kit.Handlers.WidgetOfAnOlderVersion" }], cancellationToken);
    }

    private static OutgoingMessage In(IMessageQueue queue, BuildWidget message)
    {
        var outgoing = OutgoingMessage.Create(queue.Name, message, message.MessageId);
        return message.ReplyTo is { } replyTo
            ? outgoing with { Headers = new Dictionary<string, string> { [OutgoingMessage.ReplyToHeader] = replyTo } }
            : outgoing;
    }
}
