using System.Collections.Concurrent;
using Kit.Endpoints.Cells;
using Kit.Runner.Stage.Databases;
using Kit.Runner.Stage.Transports;

namespace Kit.Tests;

/// <summary>The servers of transports that have no server of the tests' own: started as a run starts them, when the first test asks for one.</summary>
public static class TransportServers
{
    private static readonly ConcurrentDictionary<Transport, Lazy<Task<ServerInUse>>> Started = new();

    /// <summary>A place for queues, on the server of the cell's transport.</summary>
    internal static async Task<RoundTransport> OpenAsync(Cell cell, ITestWidgets databases)
    {
        var server = Started.GetOrAdd(
            Transport.Of(cell), transport => new(() => transport.StartAsync(TransportArguments.None, CancellationToken.None)));
        return await (await server.Value).OpenAsync(cell, cell.Name, new QueuesOf(databases), CancellationToken.None);
    }

    internal static async Task StopAsync()
    {
        // One that did not start has failed the test that asked for it.
        foreach (var server in Started.Values.Where(server => server is { IsValueCreated: true, Value.IsCompletedSuccessfully: true }))
            await (await server.Value).DisposeAsync();
    }

    private sealed class QueuesOf(ITestWidgets databases) : IQueueStore
    {
        public string QueueForEndpoint(Cell cell) => databases.QueueOf(cell);

        public string QueueForRunner(Cell cell) => databases.QueueOf(cell);
    }
}
