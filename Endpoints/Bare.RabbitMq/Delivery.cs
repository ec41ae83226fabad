using RabbitMQ.Client;

namespace Kit.Endpoints.Bare.RabbitMq;

/// <summary>A message as the broker delivered it.</summary>
/// <param name="Channel">The channel that it came on and must be acknowledged on.</param>
/// <param name="Tag">Its number on that channel.</param>
/// <param name="Properties">As its sender, or the endpoint that put it back, wrote them.</param>
/// <param name="IsRedelivered">Whether the broker delivered it before and got no answer.</param>
internal sealed record Delivery(IChannel Channel, ulong Tag, IReadOnlyBasicProperties Properties, byte[] Body, bool IsRedelivered)
    : ReceivedMessage(
        AmqpMessage.MessageIdOf(Properties), Properties.Type ?? "", Body, AmqpMessage.FailedAttemptsOf(Properties), AmqpMessage.HeadersOf(Properties))
{
    /// <summary>Whether it was taken from the queue of messages that are tried again.</summary>
    public bool IsRetry { get; init; }

    /// <summary>Tells the broker to forget it. No answer comes to that: if the connection dies meanwhile, the message comes again.</summary>
    public ValueTask AcknowledgeAsync() => Channel.BasicAckAsync(Tag, multiple: false);
}
