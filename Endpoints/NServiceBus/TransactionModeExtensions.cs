using System.Transactions;
using Kit.Endpoints.NServiceBus;
using Kit.Modes;
using NServiceBus.Transport;

// In NServiceBus's namespace, so that the method is found where endpoints are configured.
#pragma warning disable IDE0130 // Namespace does not match folder structure
namespace NServiceBus;
#pragma warning restore IDE0130

/// <summary>Sets the transaction mode of an endpoint.</summary>
public static class TransactionModeExtensions
{
    /// <summary>
    /// Sets the transport and the transaction mode of an endpoint. It sets the transport's
    /// <see cref="TransportDefinition.TransportTransactionMode"/>, the isolation level and time-out of the transactions that the transport opens, the
    /// retries (the mode's immediate ones, and none delayed) and the mode's wrap around handlers. Everything else is left to you.
    /// </summary>
    /// <remarks>
    /// <para>
    /// Do not change these settings afterwards: the endpoint refuses to start if another transport was set, the transport's mode was changed, handlers were
    /// wrapped in a <see cref="TransactionScope"/> by hand, or the outbox of <c>outbox</c> was disabled. Later settings in <c>Recoverability()</c> replace the
    /// mode's retries. A later isolation level or time-out in the transport's <c>TransactionScope</c> applies too, and is not checked.
    /// </para>
    /// <para>
    /// In <c>shared</c> each handler works in the transaction that received its message (<see
    /// cref="ReceiveTransactionExtensions.GetReceiveTransaction"/>). If a handler does not take it, the message fails.
    /// </para>
    /// <para>
    /// In <c>transactions-off</c> NServiceBus holds a handler's sends back until the handler has returned. <c>RequireImmediateDispatch</c> sends at once.
    /// </para>
    /// <para>
    /// In <c>outbox</c> it enables NServiceBus's own outbox. Choose a durable persistence that supports it, such as NServiceBus.Persistence.Sql. Handlers
    /// must take their connection from <c>context.SynchronizedStorageSession</c>; work on another connection is not deduplicated.
    /// </para>
    /// <para>
    /// In <c>full-dtc</c> on PostgreSQL, pass a <c>TwoPhasePostgreSqlTransport</c> (package TransactionModes.NServiceBus.PostgreSql).
    /// </para>
    /// <para>
    /// Nobody has run it on a SQL Server yet. In <c>full-dtc</c> there, handlers that connect with the transport's connection string share the receive's
    /// local transaction. A different connection string, as in <c>full-dtc-promoted</c>, promotes it to MSDTC, which only Windows has: elsewhere the
    /// endpoint starts, but each message fails. Set <c>Transaction Binding=Explicit Unbind</c> for both connections: by default, writes after a time-out
    /// of the scope stay.
    /// </para>
    /// </remarks>
    /// <param name="endpoint">The endpoint. It must not have a transaction mode yet.</param>
    /// <param name="transport">
    /// A new <see cref="PostgreSqlTransport"/>, <see cref="RabbitMQTransport"/>, <see cref="SqlServerTransport"/>, <see cref="LearningTransport"/> or
    /// <c>TwoPhasePostgreSqlTransport</c> (package TransactionModes.NServiceBus.PostgreSql).
    /// </param>
    /// <param name="mode">How transactional the handlers are.</param>
    /// <param name="transactionTimeout">
    /// How long the transaction around a handler may last in <c>dtc-off</c> and <c>full-dtc</c>; by default <see cref="TransactionTimeout.Default"/>. In
    /// <c>dtc-off</c> it is checked when the handler has returned: a late handler's work is rolled back entirely, and its message is retried. If a
    /// handler runs for longer than <see cref="TransactionManager.MaximumTimeout"/>, Npgsql un-enlists its connection, and later writes stay.
    /// </param>
    /// <returns>The transport's routing settings, as <c>UseTransport</c> returns them.</returns>
    /// <exception cref="ArgumentOutOfRangeException">See <see cref="TransactionTimeout.Require"/>.</exception>
    /// <exception cref="InvalidOperationException">The endpoint already has a transaction mode, or its handlers are already wrapped in a scope.</exception>
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

        if (mode == TransactionMode.Outbox)
            endpoint.EnableOutbox();
        if (mode == TransactionMode.Shared)
            endpoint.Pipeline.Register(new ReceiveTransactionIsRequired(), "Fails a message whose handler did not take the receive's transaction.");

        // Without a transaction the transport refuses to start with retries, and NServiceBus's defaults are 5 immediate and 3 delayed ones.
        endpoint.Recoverability()
            .Immediate(retries => retries.NumberOfRetries(mode.ImmediateRetries))
            .Delayed(retries => retries.NumberOfRetries(0));
        ChosenMode.Keep(endpoint, mode, transport);
        return routing;
    }
}
