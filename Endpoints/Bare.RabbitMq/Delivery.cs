using RabbitMQ.Client;

namespace Kit.Endpoints.Bare.RabbitMq;

/// <summary>A message as the broker delivered it.</summary>
/// <param name="Channel">The channel that delivered it. It must be acknowledged there.</param>
/// <param name="Tag">Its delivery tag on that channel.</param>
/// <param name="Properties">The properties, as its sender or the endpoint that put it back wrote them.</param>
/// <param name="IsRedelivered">Whether the broker has delivered it before without an acknowledgement.</param>
internal sealed record Delivery(IChannel Channel, ulong Tag, IReadOnlyBasicProperties Properties, byte[] Body, bool IsRedelivered)
    : ReceivedMessage(
        AmqpMessage.MessageIdOf(Properties), Properties.Type ?? "", Body, AmqpMessage.FailedAttemptsOf(Properties), AmqpMessage.HeadersOf(Properties))
{
    /// <summary>Whether it comes from the retry queue.</summary>
    public bool IsRetry { get; init; }

    /// <summary>How many others the retry queue had when it came from there.</summary>
    public uint OtherRetries { get; init; }

    /// <summary>Whether it waits in the retry queue for its place in the error queue, and must not be handled again.</summary>
    public bool IsGivenUp => IsRetry && AmqpMessage.OwnReasonOf(Properties).Length > 0;

    /// <summary>Whether its fate is decided, or about to be: it is acknowledged, or published elsewhere.</summary>
    public bool IsSettled { get; set; }

    /// <summary>Acknowledges the message. The broker does not confirm that: if the connection breaks meanwhile, the message is redelivered.</summary>
    public ValueTask AcknowledgeAsync()
    {
        IsSettled = true;
        return Channel.BasicAckAsync(Tag, multiple: false);
    }
}
