namespace Kit.Runner.Servers;

/// <summary>The loopback ports of a private broker.</summary>
/// <param name="Amqp">For clients.</param>
/// <param name="Management">For HTTP, to the management plugin.</param>
/// <param name="Distribution">For other Erlang nodes and the command line tools.</param>
/// <param name="PortMapper">For epmd, which tells them the distribution port.</param>
public sealed record BrokerPorts(int Amqp, int Management, int Distribution, int PortMapper)
{
    public static BrokerPorts Free() => LoopbackPorts.Free(4) is [var amqp, var management, var distribution, var mapper]
        ? new BrokerPorts(amqp, management, distribution, mapper)
        : throw new InvalidOperationException("Four ports were asked for.");
}
