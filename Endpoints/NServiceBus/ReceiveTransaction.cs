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
    /// The transaction that received the message. The handler works on its connection and ends neither: the transport commits when the handler
    /// has returned, together with what it sent, or rolls all back. A handler that commits takes the message out of the queue with it. One that
    /// swallows an error of the database and sends nothing fails unnoticed, because the driver takes the roll-back that answers the commit for
    /// success (npgsql issue 6641): nothing of it stays, and its message comes again without end.
    /// </summary>
    /// <exception cref="NotSupportedException">The transport did not receive the message in a transaction of a database.</exception>
    public static DbTransaction GetReceiveTransaction(this IMessageHandlerContext context)
    {
        ArgumentNullException.ThrowIfNull(context);
        if (!context.Extensions.TryGet(out TransportTransaction? receive) || !receive.TryGet(Key, out DbTransaction? transaction))
            throw new NotSupportedException("The message was not received in a transaction of a database: shared needs queues in PostgreSQL.");

        context.Extensions.Set(new Taken());
        return transaction;
    }

    /// <summary>
    /// Fails a message whose handler returned without having taken the receive's transaction: on a connection of its own it would be in
    /// <c>scope-off</c> and not know it. What it wrote there stays, once for each attempt. Handlers that write nothing take it too.
    /// </summary>
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
