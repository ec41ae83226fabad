using System.Data.Common;
using Kit.Runner.Results.Accounts;
using Kit.Runner.Stage;

namespace Kit.Runner.Faults.Injections;

/// <summary>A statement between the handler's inserts becomes the victim of a deadlock, and the handler does not catch the error.</summary>
internal sealed class LostDeadlock() : InHandler(ScriptedAct.Once(AttemptPoint.AfterFirstInsert, new Meet()))
{
    internal sealed record Meet : HandlerAct
    {
        public override async Task DoAsync(ScriptedAttempt attempt, CancellationToken cancellationToken)
        {
            try
            {
                await Deadlock.LoseAsync(attempt.Connection, attempt.Spec.Widgets, cancellationToken);
            }
            catch (DbException lost)
            {
                attempt.Fault($"has lost a deadlock: {lost.SqlState}");
                throw;
            }
        }
    }
}
