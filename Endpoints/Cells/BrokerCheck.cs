using Kit.Endpoints.Bare.RabbitMq;

namespace Kit.Endpoints.Cells;

/// <summary>Checks the broker and the queue, for a framework that declares its queue with certain arguments.</summary>
internal sealed class BrokerCheck(RabbitMqTransportSettings transport, string name, IReadOnlyDictionary<string, object?> arguments)
    : StartCheck
{
    public override async Task StartingAsync(CancellationToken cancellationToken)
    {
        await using var queue = new RabbitMqQueue(transport.Broker, name, transport.QueueType, hasRetries: false);
        await queue.DeclareAsync(arguments, cancellationToken);
    }
}
