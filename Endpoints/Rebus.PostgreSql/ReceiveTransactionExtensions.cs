using Kit.Endpoints.Rebus.PostgreSql;
using Npgsql;

// In Rebus's namespace, so that the method is found where handlers are written.
#pragma warning disable IDE0130 // Namespace does not match folder structure
namespace Rebus.Pipeline;
#pragma warning restore IDE0130

/// <summary>Gives handlers the transaction that received their message, for <c>shared</c>.</summary>
public static class ReceiveTransactionExtensions
{
    /// <summary>
    /// Returns the transaction that received the message. The handler works on its connection, and must neither end the transaction nor close the
    /// connection. When the handler has returned, Rebus commits its work together with its sends, or rolls both back.
    /// </summary>
    /// <param name="context">The context of the message that is being handled: <see cref="MessageContext.Current"/>.</param>
    /// <exception cref="NotSupportedException">The endpoint does not run in <c>shared</c>.</exception>
    public static NpgsqlTransaction GetReceiveTransaction(this IMessageContext context)
    {
        ArgumentNullException.ThrowIfNull(context);
        if (!context.TransactionContext.Items.TryGetValue(ReceiveTransaction.Key, out var kept)
            || kept is not ReceiveTransaction { Transaction: { } transaction } receive)
            throw new NotSupportedException("The receive's transaction is for handlers in shared: call UseTransactionMode with TransactionMode.Shared.");

        receive.IsTaken = true;
        return transaction;
    }
}
