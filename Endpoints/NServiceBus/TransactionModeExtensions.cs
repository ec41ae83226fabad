using System.Transactions;
using Kit.Endpoints.NServiceBus;
using Kit.Modes;
using NServiceBus.Transport;

// Where those look who configure an endpoint.
#pragma warning disable IDE0130 // Namespace does not match folder structure
namespace NServiceBus;
#pragma warning restore IDE0130

/// <summary>The transaction mode of an endpoint.</summary>
public static class TransactionModeExtensions
{
    /// <summary>
    /// Gives the endpoint a transport and makes its handlers as transactional as the mode says. It sets the transport's
    /// <see cref="TransportDefinition.TransportTransactionMode"/>, the isolation level and time-out of the transactions that the transport opens by
    /// itself, the retries (those of the mode at once, none delayed) and what the mode wants around a handler. Everything else is left to you.
    /// </summary>
    /// <remarks>
    /// <para>
    /// What gives the mode its name must stay: the endpoint refuses to start where another transport was set afterwards, the transport's mode was
    /// changed, or handlers were wrapped in a <see cref="TransactionScope"/> by hand. What you set in <c>Recoverability()</c> afterwards replaces the
    /// mode's retries. The isolation level and time-out in the transport's <c>TransactionScope</c> are nobody's to check: set afterwards, yours hold.
    /// </para>
    /// <para>
    /// In <c>shared</c> each handler works in the transaction that received its message, <see
    /// cref="ReceiveTransactionExtensions.GetReceiveTransaction"/>, and a message fails whose handler did not take it.
    /// </para>
    /// <para>
    /// In <c>transactions-off</c> NServiceBus keeps what a handler sends until the handler has returned. <c>RequireImmediateDispatch</c> sends it at once.
    /// </para>
    /// <para>
    /// In <c>full-dtc</c> on SQL Server handlers that connect with the same connection string as the transport share the receive's local
    /// transaction. A different connection string, as
    /// in <c>full-dtc-promoted</c>, promotes it to MSDTC: on Windows; elsewhere the endpoint starts, and each message fails. Give both connections
    /// <c>Transaction Binding=Explicit Unbind</c>: by default what is written after a time-out of the scope stays.
    /// </para>
    /// </remarks>
    /// <param name="endpoint">The endpoint, which has no transaction mode yet.</param>
    /// <param name="transport">
    /// A new <see cref="PostgreSqlTransport"/>, <see cref="RabbitMQTransport"/>, <see cref="SqlServerTransport"/> or <see cref="LearningTransport"/>.
    /// </param>
    /// <param name="mode">How transactional the handlers are.</param>
    /// <param name="transactionTimeout">
    /// How long the transaction around a handler may last, in the modes that have one: <see cref="TransactionTimeout.Default"/> when not given. In
    /// <c>dtc-off</c> it is judged when the handler has returned: a late handler's work is rolled back whole, and its message is retried. A handler
    /// that runs for longer than <see cref="TransactionManager.MaximumTimeout"/> is un-enlisted all the same, and what it writes after that stays.
    /// </param>
    /// <returns>The routing of the transport, as <c>UseTransport</c> returns it.</returns>
    /// <exception cref="ArgumentOutOfRangeException">See <see cref="TransactionTimeout.Require"/>.</exception>
    /// <exception cref="InvalidOperationException">The endpoint has a transaction mode, or its handlers are wrapped in a scope already.</exception>
    /// <exception cref="NotSupportedException">The transport does not offer the mode, or the kit does not know the transport.</exception>
    public static RoutingSettings<TTransport> UseTransactionMode<TTransport>(
        this EndpointConfiguration endpoint, TTransport transport, TransactionMode mode, TimeSpan? transactionTimeout = null)
        where TTransport : TransportDefinition
    {
        ArgumentNullException.ThrowIfNull(endpoint);
        ArgumentNullException.ThrowIfNull(transport);
        ArgumentNullException.ThrowIfNull(mode);
        var transactions = new TransactionSettings(mode, transactionTimeout ?? TransactionTimeout.Default);
        ChosenMode.RequireNone(endpoint);
        transport.TransportTransactionMode = NServiceBusSupport.ModeOf(mode, transport);
        TransportTransactions.Set(transport, transactions);
        var routing = endpoint.UseTransport(transport);
        if (mode == TransactionMode.DtcOff)
        {
            endpoint.UnitOfWork().WrapHandlersInATransactionScope(TransactionManager.MaximumTimeout, transactions.ScopeIsolation);
            endpoint.Pipeline.Register(new HandlerDeadline.Step(transactions.Timeout));
        }

        if (mode == TransactionMode.Shared)
            endpoint.Pipeline.Register(new ReceiveTransactionIsRequired(), "Fails a message whose handler worked without the receive's transaction.");

        // Without a transaction the transport refuses to start with any retry, and its defaults are 5 at once and 3 delayed.
        endpoint.Recoverability()
            .Immediate(retries => retries.NumberOfRetries(mode.ImmediateRetries))
            .Delayed(retries => retries.NumberOfRetries(0));
        ChosenMode.Keep(endpoint, mode, transport);
        return routing;
    }
}
