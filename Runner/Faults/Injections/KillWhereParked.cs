using Kit.Runner.Results.Accounts;
using Kit.Runner.Stage;

namespace Kit.Runner.Faults.Injections;

/// <summary>The handler stops at a point, and its process is killed there.</summary>
internal sealed class KillWhereParked(AttemptPoint point) : OneMessage
{
    public override HandlerScript Script { get; } = HandlerScript.None with { ParksAt = point };

    protected override async Task<string?> AfterAsync(FaultScene scene, bool hasFired, CancellationToken cancellationToken)
    {
        await scene.KillAsync(cancellationToken);
        return null;
    }
}
