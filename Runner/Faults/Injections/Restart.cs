namespace Kit.Runner.Faults.Injections;

/// <summary>A server crashes during a drain, and is started again.</summary>
internal sealed class Restart(bool ofQueue) : InADrain
{
    /// <summary>True if it stays down for the time of the plan, and not only until it has started again.</summary>
    public bool StaysAway { get; init; }

    public override bool NeedsTheServersAlone => true;

    public override bool MayHideWork => true;

    protected override async Task<string?> DisturbAsync(FaultScene scene, CancellationToken cancellationToken)
    {
        scene.Crashed = DateTimeOffset.UtcNow;
        var server = ofQueue ? scene.Servers.Of(scene.Cell) : scene.Servers.WidgetsOf(scene.Cell);
        scene.Tell(StaysAway ? await server.StayAwayAsync(scene.Away, cancellationToken) : await server.CrashAsync(cancellationToken));
        return null;
    }
}
