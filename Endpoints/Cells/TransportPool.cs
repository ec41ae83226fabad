using Microsoft.Extensions.Hosting;
using Npgsql;

namespace Kit.Endpoints.Cells;

/// <summary>
/// Closes the connections that a transport left in the driver's pool for its connection string, because the pool outlives the endpoint. Add it
/// before the endpoint, so that it stops later.
/// </summary>
internal sealed class TransportPool(string connectionString) : IHostedLifecycleService
{
    public static void Close(string connectionString)
    {
        using var connection = new NpgsqlConnection(connectionString);
        NpgsqlConnection.ClearPool(connection);
    }

    public Task StartingAsync(CancellationToken cancellationToken) => Task.CompletedTask;

    public Task StartAsync(CancellationToken cancellationToken) => Task.CompletedTask;

    public Task StartedAsync(CancellationToken cancellationToken) => Task.CompletedTask;

    public Task StoppingAsync(CancellationToken cancellationToken) => Task.CompletedTask;

    public Task StopAsync(CancellationToken cancellationToken) => Task.CompletedTask;

    public Task StoppedAsync(CancellationToken cancellationToken)
    {
        Close(connectionString);
        return Task.CompletedTask;
    }
}
