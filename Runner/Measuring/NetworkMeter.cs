using Kit.Runner.Results;
using Kit.Runner.Wire;

namespace Kit.Runner.Measuring;

/// <summary>Measures the traffic through the kit's proxies during a drain, and the length of a round trip through one of them.</summary>
/// <param name="network">The network of every proxy.</param>
internal sealed class NetworkMeter(ProxiedNetwork network) : IAsyncDisposable
{
    private readonly SqlTraffic sql = new();
    private SqlCount before = new(0, 0, IsEncrypted: false);
    private PingMeter? pings;

    public ProxiedNetwork Network => network;

    /// <summary>The network of proxies to PostgreSQL, whose statements and round trips are counted.</summary>
    public ProxiedNetwork NetworkOfSql => network with { Watch = sql.Watch };

    public void Start()
    {
        before = sql.Count;
        pings = new PingMeter(network);
    }

    /// <summary>Ends the measurement.</summary>
    /// <param name="messages">The number by which everything is divided.</param>
    /// <param name="connections">The most open connections to PostgreSQL at the same time.</param>
    /// <returns><see langword="null"/> if it was not started.</returns>
    /// <exception cref="KitException">No ping came back, so the distance of the servers is unknown.</exception>
    public async Task<NetworkUse?> StopAsync(int messages, int connections)
    {
        if (pings is null)
            return null;

        var seen = sql.Count - before;
        var trip = await pings.StopAsync()
            ?? throw new KitException("No ping through the kit's proxy came back during the drain.", "Drain more messages: --messages.");
        return new NetworkUse(
            trip,
            seen.IsEncrypted ? Reading.Missing("the connection is encrypted") : Reading.Of(seen.Statements).Per(messages),
            Reading.Of(seen.RoundTrips).Per(messages),
            connections);
    }

    public async ValueTask DisposeAsync()
    {
        if (pings is not null)
            await pings.DisposeAsync();
    }
}
