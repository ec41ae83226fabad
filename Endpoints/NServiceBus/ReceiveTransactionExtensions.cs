using System.Data.Common;
using Kit.Endpoints.NServiceBus;
using NServiceBus.Transport;

// Where those look who write a handler.
#pragma warning disable IDE0130 // Namespace does not match folder structure
namespace NServiceBus;
#pragma warning restore IDE0130

/// <summary>The transaction that received a message, for the work of its handler: <c>shared</c>.</summary>
public static class ReceiveTransactionExtensions
{
    // The transports' own key, whatever the driver (TransportTransactionKeys in NServiceBus.SqlServer).
    private const string Key = "System.Data.SqlClient.SqlTransaction";

    /// <summary>
    /// The transaction that received the message. The handler works on its connection and ends neither: the transport commits when the handler
    /// has returned, together with what it sent, or rolls all back.
    /// </summary>
    /// <exception cref="NotSupportedException">The transport did not receive the message in a transaction of a database.</exception>
    public static DbTransaction GetReceiveTransaction(this IMessageHandlerContext context)
    {
        ArgumentNullException.ThrowIfNull(context);
        if (!context.Extensions.TryGet(out TransportTransaction? receive) || !receive.TryGet(Key, out DbTransaction? transaction))
            throw new NotSupportedException("The message was not received in a transaction of a database: shared needs queues in PostgreSQL.");

        context.Extensions.Set(new ReceiveTransactionIsRequired.Taken(transaction));
        return transaction;
    }
}
