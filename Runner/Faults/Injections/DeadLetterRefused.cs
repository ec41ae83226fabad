using Kit.Runner.Results.Accounts;
using Kit.Runner.Stage;

namespace Kit.Runner.Faults.Injections;

/// <summary>The handler fails for good, and its error queue takes nothing until other messages were handled.</summary>
internal sealed class DeadLetterRefused : OneMessage
{
    /// <summary>Time for a message to be moved to the error queue after its last attempt.</summary>
    private static readonly TimeSpan ForADeadLetter = TimeSpan.FromSeconds(2);

    private IAsyncDisposable? refusal;

    public override HandlerScript Script { get; } =
        new(ScriptedAct.Always(AttemptPoint.Started, new HandlerThrows.Throw("throws before its first insert")));

    public override bool MayHideWork => true;

    protected override async Task ArmAsync(FaultScene scene, CancellationToken cancellationToken) =>
        refusal = scene.Keep(await scene.Testbed.RefuseDeadLettersAsync(cancellationToken));

    /// <summary>The error queue refuses the chosen message until its attempts have failed and other messages have passed it.</summary>
    protected override async Task<bool> HasFiredAsync(FaultScene scene, CancellationToken cancellationToken)
    {
        var testbed = scene.Testbed;
        if (!await scene.UntilAsync(() => Task.FromResult(scene.Failures() >= scene.Cell.Mode.Attempts), cancellationToken))
            return false;

        var all = (await testbed.CountAsync(cancellationToken)).Sink + (FaultScene.Ordinary * testbed.Shape.Deliveries);
        await scene.SendOrdinaryAsync(cancellationToken);
        if (!await scene.UntilAsync(async () => (await testbed.CountAsync(cancellationToken)).Sink >= all, cancellationToken))
        {
            scene.Blocked = new Violation(
                null,
                $"a message that the error queue refuses has blocked {FaultScene.Ordinary} others for {FaultScene.Patience.TotalSeconds} s",
                []);
        }

        await Task.Delay(ForADeadLetter, cancellationToken);
        var isRefused = (await testbed.CountAsync(cancellationToken)).Errors == 0;
        await refusal!.DisposeAsync();
        scene.Tell($"the error queue refused messages, and did not have this one after {scene.Failures()} failed attempts");
        return isRefused;
    }
}
