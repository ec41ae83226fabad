using Kit.Runner.Results.Accounts;
using Kit.Runner.Stage;

namespace Kit.Runner.Faults.Injections;

/// <summary>A copy of the message, with its id, comes to an endpoint that drops it while a handler has the first one.</summary>
internal sealed class CopyIsDropped : OneMessage
{
    public override HandlerScript Script { get; } =
        new(ScriptedAct.Once(AttemptPoint.AfterFirstInsert, new ReceiveLost.WaitForRunner("waits until its copy has left the queue")));

    protected override async Task<bool> HasFiredAsync(FaultScene scene, CancellationToken cancellationToken)
    {
        if (!await base.HasFiredAsync(scene, cancellationToken))
            return false;

        // The first one is in the inbox, so the queue takes its copy.
        await scene.Testbed.SendAgainAsync(scene.Chosen, cancellationToken);
        var isGone = await scene.UntilAsync(async () => (await scene.Testbed.CountAsync(cancellationToken)).Queue == 1, cancellationToken);
        scene.Testbed.LetGoOfAll();
        scene.Tell($"while a handler had the message, its copy {(isGone ? "left the queue" : "stayed in the queue")}");
        return isGone;
    }
}
