using Kit.Runner.Results.Accounts;
using Kit.Runner.Stage;

namespace Kit.Runner.Faults.Injections;

/// <summary>The handler sends to a queue that does not exist.</summary>
internal sealed class FailedDispatch() : InHandler(ScriptedAct.Always(AttemptPoint.AfterSecondInsert, new Redirect("nowhere")))
{
    /// <summary>Sends to a queue that does not exist.</summary>
    /// <param name="Queue"><see langword="null"/>: the one that the runner creates late.</param>
    internal sealed record Redirect(string? Queue) : HandlerAct
    {
        public override Task DoAsync(ScriptedAttempt attempt, CancellationToken cancellationToken)
        {
            attempt.Destination = Queue ?? ExperimentSpec.LateSinkOf(attempt.Spec.Sink);
            attempt.Fault("sends to a queue that does not exist");
            return Task.CompletedTask;
        }
    }
}
