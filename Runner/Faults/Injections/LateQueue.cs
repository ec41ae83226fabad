using Kit.Runner.Results.Accounts;
using Kit.Runner.Stage;

namespace Kit.Runner.Faults.Injections;

/// <summary>The handler sends to a queue that is created after the message was handled or dead-lettered.</summary>
internal sealed class LateQueue : OneMessage
{
    public override HandlerScript Script { get; } = new(ScriptedAct.Always(AttemptPoint.AfterSecondInsert, new FailedDispatch.Redirect(Queue: null)));

    protected override async Task<string?> AfterAsync(FaultScene scene, bool hasFired, CancellationToken cancellationToken)
    {
        if (!await scene.UntilAsync(() => IsEndedAsync(scene, cancellationToken), cancellationToken))
            return "the message was neither handled nor dead-lettered";

        await scene.Testbed.CreateLateSinkAsync(cancellationToken);
        scene.Tell("the queue was created after the message had been handled or dead-lettered");
        return null;
    }

    private static async Task<bool> IsEndedAsync(FaultScene scene, CancellationToken cancellationToken)
    {
        if (await scene.Testbed.CountAsync(cancellationToken) is not { IsReceived: true } before)
            return false;

        await Task.Delay(FaultScene.Moment, cancellationToken);
        return await scene.Testbed.CountAsync(cancellationToken) == before;
    }
}
