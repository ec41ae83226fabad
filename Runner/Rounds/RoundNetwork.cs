using Kit.Endpoints.Cells;
using Kit.Runner.Measuring;
using Kit.Runner.Results;
using Kit.Runner.Stage.Transports;
using Kit.Runner.Wire;

namespace Kit.Runner.Rounds;

/// <summary>The network between the endpoint of a round and its servers: nothing, or one proxy for each server.</summary>
internal sealed class RoundNetwork : IAsyncDisposable
{
    private readonly Dictionary<(string Host, int Port), FaultProxy> proxies = [];
    private readonly NetworkMeter? meter;
    private readonly (string Host, int Port) sqlServer;

    /// <param name="cell">Its name gives the distance of the servers.</param>
    /// <param name="queues">Direct address of the queues.</param>
    /// <param name="widgets">Direct address of the widgets' database.</param>
    /// <exception cref="KitException">A proxy is needed, and the database is reached by a Unix socket, or has several hosts.</exception>
    public RoundNetwork(Cell cell, string queues, string widgets)
    {
        (Queues, Widgets) = (queues, widgets);
        if (ProxiedNetwork.At(cell.RoundTrip) is not { } network)
            return;

        // Both have one: a cell without is refused. PostgreSQL holds the widgets, and perhaps the queues.
        var transport = Transport.Of(cell);
        var (toQueues, toWidgets) = (transport.ProxyRoute!, transport.Widgets.ProxyRoute!);
        meter = new NetworkMeter(network);
        sqlServer = toWidgets.ServerOf(widgets);
        if (sqlServer.Host.StartsWith('/') || sqlServer.Host.Contains(','))
        {
            throw new KitException(
                $"The kit's proxy forwards to one host and port, and the connection string names '{sqlServer.Host}'.",
                "Name one TCP host in --postgresql, or leave --rtt out.");
        }

        Widgets = Through(toWidgets, widgets, isSql: true);
        Queues = Through(toQueues, queues, isSql: !transport.IsBroker);
    }

    /// <summary>The endpoint's address of the queues.</summary>
    public string Queues { get; }

    /// <summary>The endpoint's address of the widgets' database.</summary>
    public string Widgets { get; }

    /// <summary>Begins to measure the traffic.</summary>
    public void StartMeasuring() => meter?.Start();

    /// <summary>Ends the measurement.</summary>
    /// <returns><see langword="null"/> if there are no proxies.</returns>
    /// <inheritdoc cref="NetworkMeter.StopAsync"/>
    public async Task<NetworkUse?> StopMeasuringAsync(int messages) =>
        meter is null ? null : await meter.StopAsync(messages, proxies[sqlServer].MostConnections);

    public async ValueTask DisposeAsync()
    {
        if (meter is not null)
            await meter.DisposeAsync();
        foreach (var proxy in proxies.Values)
            await proxy.DisposeAsync();
    }

    private string Through(ProxyRoute route, string address, bool isSql)
    {
        var server = route.ServerOf(address);
        if (!proxies.TryGetValue(server, out var proxy))
        {
            // Queues in PostgreSQL can be on a server of their own.
            proxies[server] = proxy = new FaultProxy(server.Host, server.Port, isSql ? meter!.NetworkOfSql : meter!.Network);
        }

        return route.Through(address, proxy.Port);
    }
}
