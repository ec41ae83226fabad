using RabbitMQ.Client;
using RabbitMQ.Client.Events;

namespace Kit.Endpoints.Bare.RabbitMq;

/// <summary>A consumer that knows when it ends, and why.</summary>
internal abstract class EndedConsumer(IChannel channel) : AsyncDefaultBasicConsumer(channel)
{
    /// <summary>Ends it because of a failure.</summary>
    public abstract void Break(string reason);

    // Called after the earlier deliveries, which the driver may still hold when the broker has answered.
    public override Task HandleBasicCancelOkAsync(string consumerTag, CancellationToken cancellationToken = default)
    {
        Complete();
        return base.HandleBasicCancelOkAsync(consumerTag, cancellationToken);
    }

    public override Task HandleBasicCancelAsync(string consumerTag, CancellationToken cancellationToken = default)
    {
        Break("The broker ended the consumer: the queue was deleted or its node is down.");
        return base.HandleBasicCancelAsync(consumerTag, cancellationToken);
    }

    public override Task HandleChannelShutdownAsync(object channel, ShutdownEventArgs reason)
    {
        Break($"The connection to the broker was lost: {reason.ReplyText}.");
        return base.HandleChannelShutdownAsync(channel, reason);
    }

    /// <summary>It was cancelled, and nothing more will be delivered.</summary>
    protected abstract void Complete();
}
