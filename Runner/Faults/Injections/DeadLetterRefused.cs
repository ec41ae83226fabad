using Kit.Runner.Results.Accounts;
using Kit.Runner.Stage;
using Kit.Runner.Wire;
using Npgsql;

namespace Kit.Runner.Faults.Injections;

/// <summary>The handler fails for good, and its error queue takes nothing until other messages were handled.</summary>
internal sealed class DeadLetterRefused : OneMessage
{
    /// <summary>The answer of the error queue's table, which nothing else of a handling gets.</summary>
    private const string RefusedByTable = "error " + PostgresErrorCodes.CheckViolation;

    /// <summary>The answer of the broker.</summary>
    private const string RefusedByBroker = "basic.nack";

    /// <summary>Longer than an endpoint tries to store a dead letter at once.</summary>
    private static readonly TimeSpan Longer = TimeSpan.FromSeconds(5);

    private IAsyncDisposable? refusal;

    public override HandlerScript Script { get; } =
        new(ScriptedAct.Always(AttemptPoint.Started, new HandlerThrows.Throw("throws before its first insert")));

    public override RequestGate Gate { get; } = new();

    public override bool MayHideWork => true;

    protected override async Task ArmAsync(FaultScene scene, CancellationToken cancellationToken)
    {
        refusal = scene.Keep(await scene.Testbed.RefuseDeadLettersAsync(cancellationToken));
        Gate.Record();
    }

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

        var isRefused = await scene.UntilAsync(
            () => Task.FromResult(Gate.Passed.Any(one => one.Request.Outcome is RefusedByTable or RefusedByBroker)), cancellationToken);
        Gate.ThrowIfFailed();
        await Task.Delay(Longer, cancellationToken);
        await refusal!.DisposeAsync();
        scene.Tell($"the error queue refused {(isRefused ? "this message" : "nothing")}, after {scene.Failures()} failed attempts");
        return isRefused;
    }
}
