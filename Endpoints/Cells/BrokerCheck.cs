using Kit.Endpoints.Bare.RabbitMq;
using Microsoft.Extensions.Hosting;

namespace Kit.Endpoints.Cells;

/// <summary>Says what is wrong with the broker or the queue, and fails the start; added before a framework that would say less.</summary>
internal sealed class BrokerCheck(RabbitMqAddress broker, EndpointSettings settings) : IHostedService
{
    public async Task StartAsync(CancellationToken cancellationToken)
    {
        await using var queue = new RabbitMqQueue(broker, settings.Queue, settings.QueueType, hasRetries: false);
        await queue.CreateAsync(cancellationToken);
    }

    public Task StopAsync(CancellationToken cancellationToken) => Task.CompletedTask;
}
