namespace Kit.Runner.Wire;

/// <summary>The gates of a <see cref="FaultProxy"/>, one for each direction of all its connections.</summary>
internal sealed class StallGates
{
    private readonly StallGate toServer = new();
    private readonly StallGate toClient = new();

    /// <param name="traffic">One direction.</param>
    public StallGate this[Traffic traffic] => traffic is Traffic.ToServer ? toServer : toClient;

    public IEnumerable<StallGate> Of(Traffic traffic) =>
        new[] { Traffic.ToServer, Traffic.ToClient }.Where(one => traffic.HasFlag(one)).Select(one => this[one]);
}
