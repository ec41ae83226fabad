using Kit.Endpoints.Bare.RabbitMq;

namespace Kit.Endpoints.Cells;

/// <summary>Whether the broker and the queue will do, for a framework that declares its queue with certain arguments.</summary>
internal sealed class BrokerCheck(RabbitMqAddress broker, EndpointSettings settings, IReadOnlyDictionary<string, object?> arguments)
    : StartCheck
{
    public override async Task StartingAsync(CancellationToken cancellationToken)
    {
        await using var queue = new RabbitMqQueue(broker, settings.Queue, settings.QueueType, hasRetries: false);
        await queue.DeclareAsync(arguments, cancellationToken);
    }
}
