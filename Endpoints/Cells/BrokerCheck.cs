using Kit.Endpoints.Bare.RabbitMq;

namespace Kit.Endpoints.Cells;

/// <summary>Whether the broker and the queue will do.</summary>
internal sealed class BrokerCheck(RabbitMqAddress broker, EndpointSettings settings) : StartCheck
{
    public override async Task StartingAsync(CancellationToken cancellationToken)
    {
        await using var queue = new RabbitMqQueue(broker, settings.Queue, settings.QueueType, hasRetries: false);
        await queue.CreateAsync(cancellationToken);
    }
}
