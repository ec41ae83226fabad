namespace Kit.Runner.Wire;

/// <summary>What a <see cref="FaultProxy"/> does to every connection besides its faults.</summary>
internal sealed record ProxiedNetwork
{
    /// <summary>A network on loopback.</summary>
    public static ProxiedNetwork Loopback { get; } = new();

    /// <summary>How much longer a request and its answer take together. The two directions share it, in whole milliseconds.</summary>
    public TimeSpan RoundTrip { get; init; }

    /// <summary>Makes a watch for a new connection; <see langword="null"/>: nobody watches.</summary>
    public Func<IConnectionWatch>? Watch { get; init; }

    /// <summary>
    /// Makes a filter for a new connection; <see langword="null"/>: everything is forwarded. Armed faults and round trips do not apply to connections
    /// with a filter.
    /// </summary>
    public Func<ConnectionSides, IConnectionFilter>? Filter { get; init; }

    /// <summary>How much later the bytes of one direction arrive.</summary>
    public TimeSpan LatencyOf(Traffic direction)
    {
        var toServer = TimeSpan.FromMilliseconds(Math.Floor(RoundTrip.TotalMilliseconds / 2));
        return direction is Traffic.ToServer ? toServer : RoundTrip - toServer;
    }
}
