using Microsoft.Extensions.Hosting;

namespace Kit.Endpoints.Cells;

/// <summary>
/// Fails the start and says what is wrong. Add it before a framework that would say less. It runs in the earliest stage of a host's start, because
/// NServiceBus connects there.
/// </summary>
internal abstract class StartCheck : IHostedLifecycleService
{
    public abstract Task StartingAsync(CancellationToken cancellationToken);

    public Task StartAsync(CancellationToken cancellationToken) => Task.CompletedTask;

    public Task StartedAsync(CancellationToken cancellationToken) => Task.CompletedTask;

    public Task StoppingAsync(CancellationToken cancellationToken) => Task.CompletedTask;

    public Task StopAsync(CancellationToken cancellationToken) => Task.CompletedTask;

    public Task StoppedAsync(CancellationToken cancellationToken) => Task.CompletedTask;
}
