using Kit.Runner.Servers;

namespace Kit.Tests.Servers;

/// <summary>The ports of private servers.</summary>
public sealed class PortsOfServers
{
    /// <summary>A server that restarts must get its port again, and on Linux an outgoing connection can have any from 32,768 on.</summary>
    [Test]
    public void Are_different_and_none_is_given_to_an_outgoing_connection() =>
        Assert.That(LoopbackPorts.Free(20), Is.Unique.And.All.InRange(1_024, 32_767));
}
