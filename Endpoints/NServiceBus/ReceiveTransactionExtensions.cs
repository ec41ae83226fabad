using System.Data.Common;
using Kit.Endpoints.NServiceBus;
using NServiceBus.Transport;

// In NServiceBus's namespace, so that the method is found where handlers are written.
#pragma warning disable IDE0130 // Namespace does not match folder structure
namespace NServiceBus;
#pragma warning restore IDE0130

/// <summary>Gives handlers the transaction that received their message, for <c>shared</c>.</summary>
public static class ReceiveTransactionExtensions
{
    // The transports' own key, for every driver (TransportTransactionKeys in NServiceBus.SqlServer).
    private const string Key = "System.Data.SqlClient.SqlTransaction";

    /// <summary>
    /// Returns the transaction that received the message. The handler works on its connection, and must neither end the transaction nor close the
    /// connection. When the handler has returned, the transport commits its work together with its sends, or rolls both back.
    /// </summary>
    /// <exception cref="NotSupportedException">The transport did not receive the message in a database transaction.</exception>
    public static DbTransaction GetReceiveTransaction(this IMessageHandlerContext context)
    {
        ArgumentNullException.ThrowIfNull(context);
        if (!context.Extensions.TryGet(out TransportTransaction? receive) || !receive.TryGet(Key, out DbTransaction? transaction))
            throw new NotSupportedException("The message was not received in a database transaction: shared needs queues in PostgreSQL.");

        context.Extensions.Set(new ReceiveTransactionIsRequired.Taken(transaction));
        return transaction;
    }
}
