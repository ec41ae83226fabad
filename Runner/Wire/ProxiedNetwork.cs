using Kit.Guarantees;

namespace Kit.Runner.Wire;

/// <summary>The effects of a <see cref="FaultProxy"/> on every connection besides its faults.</summary>
internal sealed record ProxiedNetwork
{
    /// <summary>A network on loopback.</summary>
    public static ProxiedNetwork Loopback { get; } = new();

    /// <summary>Time added to a request and its answer together. The two directions share it, in whole milliseconds.</summary>
    public TimeSpan RoundTrip { get; init; }

    /// <summary>Makes a watch for a new connection; <see langword="null"/>: nobody watches.</summary>
    public Func<IConnectionWatch>? Watch { get; init; }

    /// <summary>
    /// Makes a filter for a new connection; <see langword="null"/>: everything is forwarded. Round trips do not apply to connections with a filter.
    /// </summary>
    public Func<ConnectionSides, IConnectionFilter>? Filter { get; init; }

    /// <summary>A network with that distance; <see langword="null"/>: no proxy is in between.</summary>
    public static ProxiedNetwork? At(RoundTripTime trip) => trip.Added is { } added ? new ProxiedNetwork { RoundTrip = added } : null;

    /// <summary>Delay of the bytes of one direction.</summary>
    public TimeSpan LatencyOf(Traffic direction)
    {
        var toServer = TimeSpan.FromMilliseconds(Math.Floor(RoundTrip.TotalMilliseconds / 2));
        return direction is Traffic.ToServer ? toServer : RoundTrip - toServer;
    }
}
