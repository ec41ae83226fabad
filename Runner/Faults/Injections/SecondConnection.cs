using System.Transactions;
using Kit.Handlers;
using Kit.Runner.Results.Accounts;
using Kit.Runner.Stage;
using Npgsql;

namespace Kit.Runner.Faults.Injections;

/// <summary>The handler does its second insert on a connection that it opens itself, in the ambient transaction if there is one.</summary>
internal sealed class SecondConnection() : InHandler(ScriptedAct.Always(AttemptPoint.AfterFirstInsert, new InsertOnItsOwn()))
{
    /// <summary>The driver enlists the connection in the ambient transaction, as it does by default.</summary>
    internal sealed record InsertOnItsOwn : HandlerAct
    {
        public override async Task DoAsync(ScriptedAttempt attempt, CancellationToken cancellationToken)
        {
            attempt.HasInserted = true;
            await using var own = new NpgsqlConnection(attempt.Spec.Widgets);
            await own.OpenAsync(cancellationToken);
            attempt.Fault($"has opened a second connection, {(Transaction.Current is null ? "and there is no" : "in the")} ambient transaction");
            await attempt.Itself.InsertAsync(own, WidgetId.Next(), cancellationToken);
        }
    }
}
