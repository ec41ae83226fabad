using Kit.Runner.Results.Accounts;
using Kit.Runner.Stage;

namespace Kit.Runner.Faults.Injections;

/// <summary>The handler waits between its inserts until its transaction has timed out, and goes on.</summary>
internal sealed class ScopeTimesOut() : InHandler(ScriptedAct.Once(AttemptPoint.AfterFirstInsert, new OutliveTransaction()))
{
    private static readonly TimeSpan Timeout = TimeSpan.FromSeconds(2);
    private static readonly TimeSpan Longer = TimeSpan.FromSeconds(3);

    protected override TimeSpan? TransactionTimeout => Timeout;

    internal sealed record OutliveTransaction : HandlerAct
    {
        public override async Task DoAsync(ScriptedAttempt attempt, CancellationToken cancellationToken)
        {
            attempt.Fault($"waits for {Longer.TotalSeconds} s; its transaction times out after {Timeout.TotalSeconds} s");
            await Task.Delay(Longer, CancellationToken.None);
        }
    }
}
