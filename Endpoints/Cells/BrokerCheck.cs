using Kit.Endpoints.Bare.RabbitMq;
using Microsoft.Extensions.Hosting;

namespace Kit.Endpoints.Cells;

/// <summary>
/// Says what is wrong with the broker or the queue, and fails the start; added before a framework that would say less. In the earliest stage of
/// a host's start, because NServiceBus connects there.
/// </summary>
internal sealed class BrokerCheck(RabbitMqAddress broker, EndpointSettings settings) : IHostedLifecycleService
{
    public async Task StartingAsync(CancellationToken cancellationToken)
    {
        await using var queue = new RabbitMqQueue(broker, settings.Queue, settings.QueueType, hasRetries: false);
        await queue.CreateAsync(cancellationToken);
    }

    public Task StartAsync(CancellationToken cancellationToken) => Task.CompletedTask;

    public Task StartedAsync(CancellationToken cancellationToken) => Task.CompletedTask;

    public Task StoppingAsync(CancellationToken cancellationToken) => Task.CompletedTask;

    public Task StopAsync(CancellationToken cancellationToken) => Task.CompletedTask;

    public Task StoppedAsync(CancellationToken cancellationToken) => Task.CompletedTask;
}
