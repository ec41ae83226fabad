using System.Collections.Concurrent;

namespace Kit.Runner.Wire;

/// <summary>The faults that a <see cref="FaultProxy"/> has been told to inject into all its connections.</summary>
internal sealed class ProxyFaults
{
    private readonly StallGate toServer = new();
    private readonly StallGate toClient = new();
    private readonly ConcurrentDictionary<ArmedFault, bool> armed = new();

    public IEnumerable<ArmedFault> Armed => armed.Keys;

    public ArmedFault Arm(ArmedFault fault)
    {
        armed.TryAdd(fault, true);
        return fault;
    }

    public void Disarm(ArmedFault fault) => armed.TryRemove(fault, out _);

    /// <param name="traffic">One direction.</param>
    public StallGate Gate(Traffic traffic) => traffic is Traffic.ToServer ? toServer : toClient;

    public IEnumerable<StallGate> Gates(Traffic traffic) =>
        new[] { Traffic.ToServer, Traffic.ToClient }.Where(one => traffic.HasFlag(one)).Select(Gate);
}
