using System.Data.Common;
using NServiceBus.Pipeline;

namespace Kit.Endpoints.NServiceBus;

/// <summary>
/// Fails a message whose handler returned without having taken the receive's transaction: on a connection of its own it would be in
/// <c>scope-off</c> and not know it. What it wrote there stays, once for each attempt. Handlers that write nothing take it too. And fails one
/// whose handler ended the transaction, or swallowed an error and left it failed.
/// </summary>
internal sealed class ReceiveTransactionIsRequired : Behavior<IInvokeHandlerContext>
{
    /// <summary>SQLSTATE <c>in_failed_sql_transaction</c>.</summary>
    private const string InFailedTransaction = "25P02";

    public override async Task Invoke(IInvokeHandlerContext context, Func<Task> next)
    {
        await next();
        if (!context.Extensions.TryGet(out Taken? taken))
        {
            throw new InvalidOperationException(
                $"{context.MessageHandler.HandlerType.Name} did not take the receive's transaction (GetReceiveTransaction), " +
                "and in shared its work belongs there.");
        }

        // To a commit of a failed transaction PostgreSQL answers with a roll-back and no error, and the driver does not look (npgsql issue
        // 6641): the message would come again without end. A savepoint is an error there. It is a command of its own, at the price of a round
        // trip: the driver sends SaveAsync's with the next command, which is the dispatch of what the handler sent, and the failure of such
        // a savepoint breaks the connection, so that the transport's roll-back fails too and the transport counts the failure twice.
        try
        {
            await using var savepoint = taken.Transaction.Connection!.CreateCommand();
            savepoint.Transaction = taken.Transaction;
            savepoint.CommandText = "SAVEPOINT handled";
            await savepoint.ExecuteNonQueryAsync(context.CancellationToken);
        }
        catch (DbException failure) when (failure.SqlState is InFailedTransaction)
        {
            throw new InvalidOperationException(
                $"{context.MessageHandler.HandlerType.Name} returned with its transaction failed: a statement failed, and the handler went on. " +
                "In shared that transaction is the receive's, which cannot commit any more. " +
                "Let the error leave the handler, or roll back to a savepoint of its own.",
                failure);
        }
    }

    /// <summary>What the handler took.</summary>
    internal sealed record Taken(DbTransaction Transaction);
}
