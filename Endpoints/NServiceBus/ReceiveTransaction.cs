using System.Data.Common;
using NServiceBus;
using NServiceBus.Pipeline;
using NServiceBus.Transport;

namespace Kit.Endpoints.NServiceBus;

/// <summary>The transaction that received a message, for the work of its handler: <c>shared</c>.</summary>
public static class ReceiveTransaction
{
    // The transports' own key, whatever the driver (TransportTransactionKeys in NServiceBus.SqlServer).
    private const string Key = "System.Data.SqlClient.SqlTransaction";

    /// <summary>
    /// The transaction that received the message. The handler works on its connection and leaves both open: the transport commits when the handler
    /// has returned, together with what it sent, or rolls all back. SqlClient wants the transaction on each command.
    /// </summary>
    /// <exception cref="NotSupportedException">The transport does not receive in a transaction of a database, or not in this mode.</exception>
    public static DbTransaction GetReceiveTransaction(this IMessageHandlerContext context)
    {
        ArgumentNullException.ThrowIfNull(context);
        if (!context.Extensions.TryGet(out TransportTransaction? receive) || !receive.TryGet(Key, out DbTransaction? transaction))
            throw new NotSupportedException("The message was not received in a transaction of a database: shared needs queues in SQL Server or PostgreSQL.");

        context.Extensions.Set(new Taken());
        return transaction;
    }

    /// <summary>Fails a message whose handler worked without the receive's transaction: on a connection of its own it would be in <c>scope-off</c> and not know it.</summary>
    internal sealed class IsRequired : Behavior<IInvokeHandlerContext>
    {
        public override async Task Invoke(IInvokeHandlerContext context, Func<Task> next)
        {
            await next();
            if (!context.Extensions.TryGet(out Taken? _))
            {
                throw new InvalidOperationException(
                    $"{context.MessageHandler.HandlerType.Name} did not take the receive's transaction (GetReceiveTransaction), and in shared its work belongs there.");
            }
        }
    }

    private sealed class Taken;
}
