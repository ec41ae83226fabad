namespace Kit.Runner.Transports;

/// <summary>How the connections of an endpoint are led through a proxy.</summary>
/// <param name="ServerOf">Where an address, as an endpoint gets it, leads to.</param>
/// <param name="Through">The same address, by way of a port of the loopback.</param>
internal sealed record ProxyRoute(Func<string, (string Host, int Port)> ServerOf, Func<string, int, string> Through)
{
    /// <summary>
    /// What a consumer writes to acknowledge a message to a broker; <see langword="null"/> where the receive ends with a transaction.
    /// </summary>
    public ReadOnlyMemory<byte>? Acknowledgement { get; init; }
}
