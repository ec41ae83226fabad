using Kit.Runner.Results.Accounts;
using Kit.Runner.Stage;

namespace Kit.Runner.Faults.Injections;

/// <summary>The handler waits between its inserts until its transaction has timed out, and goes on.</summary>
internal sealed class ScopeTimesOut() : InHandler(ScriptedAct.Once(AttemptPoint.AfterFirstInsert, new OutliveTransaction()))
{
    private static readonly TimeSpan Timeout = TimeSpan.FromSeconds(2);
    private static readonly TimeSpan Longer = TimeSpan.FromSeconds(3);

    protected override TimeSpan? TransactionTimeout => Timeout;

    /// <summary>A transaction that has timed out shows by a second attempt: the act is of the first one alone.</summary>
    protected override async Task<bool> HasFiredAsync(FaultScene scene, CancellationToken cancellationToken)
    {
        if (!await base.HasFiredAsync(scene, cancellationToken))
            return false;

        await scene.UntilAsync(async () => IsAgain() || (await scene.Testbed.CountAsync(cancellationToken)).IsReceived, cancellationToken);
        var isAgain = IsAgain();
        if (isAgain)
            scene.Tell("a second attempt began");
        return isAgain;

        bool IsAgain() => scene.Testbed.Journal.LinesOf(scene.Chosen).Count(line => line.Point is AttemptPoint.Started) > 1;
    }

    internal sealed record OutliveTransaction : HandlerAct
    {
        public override async Task DoAsync(ScriptedAttempt attempt, CancellationToken cancellationToken)
        {
            attempt.Fault($"waits for {Longer.TotalSeconds} s; its transaction times out after {Timeout.TotalSeconds} s");
            await Task.Delay(Longer, CancellationToken.None);
        }
    }
}
