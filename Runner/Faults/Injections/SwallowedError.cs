using System.Data.Common;
using Kit.Runner.Results.Accounts;
using Kit.Runner.Stage;

namespace Kit.Runner.Faults.Injections;

/// <summary>The handler's second insert fails, because its id is taken; the handler catches the error and goes on.</summary>
internal sealed class SwallowedError() : InHandler(ScriptedAct.Once(AttemptPoint.AfterFirstInsert, new FailToInsert()))
{
    internal sealed record FailToInsert : HandlerAct
    {
        public override async Task DoAsync(ScriptedAttempt attempt, CancellationToken cancellationToken)
        {
            attempt.HasInserted = true;
            try
            {
                await attempt.Itself.InsertAsync(attempt.Connection, attempt.FirstRow, cancellationToken);
            }
            catch (DbException swallowed)
            {
                attempt.Fault($"swallows the error {swallowed.SqlState}");
            }
        }
    }
}
