using System.Data.Common;
using NServiceBus.Pipeline;

namespace Kit.Endpoints.NServiceBus;

/// <summary>
/// Fails a message whose handler returned without taking the receive's transaction. On its own connection the handler would really be in
/// <c>scope-off</c>, and its writes stay, once for each attempt. Even handlers that write nothing must take it. Also fails a message whose
/// handler ended the transaction, or swallowed an error and left the transaction failed.
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
                "although in shared its work belongs there.");
        }

        // PostgreSQL answers the commit of a failed transaction with a roll-back instead of an error, and the driver does not check (npgsql issue
        // 6641): the message would be redelivered for ever. A savepoint fails there. It is a separate command, which costs a round trip: the driver
        // sends SaveAsync's savepoint with the next command, the dispatch of the handler's sends. If that savepoint fails, the connection breaks,
        // the transport's roll-back fails too, and the transport counts the failure twice.
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
                $"{context.MessageHandler.HandlerType.Name} left its transaction failed: a statement failed, and the handler continued. " +
                "In shared that transaction is the receive's, which can no longer commit. " +
                "Let the handler throw the error, or let it roll back to its own savepoint.",
                failure);
        }
    }

    /// <summary>The transaction that the handler took.</summary>
    internal sealed record Taken(DbTransaction Transaction);
}
