using Kit.Runner.Wire;

namespace Kit.Runner.Stage.Transports;

/// <summary>The route of an endpoint's connections through a proxy.</summary>
/// <param name="ServerOf">The host and port of an address, as an endpoint gets it.</param>
/// <param name="Through">An endpoint's address, rewritten to a loopback port.</param>
internal sealed record ProxyRoute(Func<string, (string Host, int Port)> ServerOf, Func<string, int, string> Through)
{
    /// <summary>Reads the frames of one connection; <see langword="null"/>: the kit does not know the protocol.</summary>
    public Func<IWireProtocol>? Wire { get; init; }

    /// <summary>
    /// The address with a limit for each answer, after which the client gives the connection up; by default unchanged, because its driver has no such
    /// setting.
    /// </summary>
    public Func<string, TimeSpan, string> WithLimit { get; init; } = (address, _) => address;
}
