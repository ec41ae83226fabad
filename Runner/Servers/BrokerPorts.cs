namespace Kit.Runner.Servers;

/// <summary>The loopback ports of a private broker.</summary>
/// <param name="Amqp">For clients.</param>
/// <param name="Management">HTTP, the management plugin's.</param>
/// <param name="Distribution">Erlang's own, for other nodes and the command line tools.</param>
/// <param name="PortMapper">epmd's, which tells those the one before.</param>
public sealed record BrokerPorts(int Amqp, int Management, int Distribution, int PortMapper)
{
    public static BrokerPorts Free() => LoopbackPorts.Free(4) is [var amqp, var management, var distribution, var mapper]
        ? new BrokerPorts(amqp, management, distribution, mapper)
        : throw new InvalidOperationException("Four ports were asked for.");
}
