using Kit.Endpoints.Rebus.PostgreSql;
using Kit.Modes;
using Rebus.Pipeline;
using Rebus.Pipeline.Receive;
using Rebus.PostgreSql;
using Rebus.Retry.Simple;
using Rebus.Subscriptions;
using Rebus.Transport;

// In Rebus's namespace, so that the method is found where endpoints are configured.
#pragma warning disable IDE0130 // Namespace does not match folder structure
namespace Rebus.Config;
#pragma warning restore IDE0130

/// <summary>Sets the transport and the transaction mode of an endpoint on PostgreSQL.</summary>
public static class RebusTransactionModeExtensions
{
    /// <summary>
    /// Sets the transport, its queue and its error queue, the mode's retries, and the transaction around handlers. Everything else is left to you: workers,
    /// parallelism, routing, subscriptions. Do not set a transport, a retry strategy or an outbox as well.
    /// </summary>
    /// <remarks>
    /// <para>
    /// In <c>dtc-off</c> handlers open connections that enlist in the ambient transaction, but not in their constructors, which Rebus calls before it. The
    /// transport's own connections, which received the message and on which sends are written, stay outside, and so does that of the subscription storage.
    /// </para>
    /// <para>
    /// In <c>shared</c> each handler works in the transaction that received its message (<see
    /// cref="ReceiveTransactionExtensions.GetReceiveTransaction"/>). If a handler does not take it, the message fails.
    /// </para>
    /// <para>
    /// Outside all of this, in every mode, is what a handler sends in a <c>RebusTransactionScope</c> of its own or on another bus: it goes out at once. So is
    /// the data of sagas: Rebus saves it on a connection of its own when the handlers have returned.
    /// </para>
    /// <para>
    /// Rebus's default, <see cref="ErrorHandlerMode.Immediately"/>, which is that of <c>dtc-off</c> and <c>scope-off</c>, moves a message to the error queue
    /// within its last attempt, and then commits the receive's transaction: the sends of that attempt go out, and in <c>shared</c> its rows stay.
    /// <see cref="ErrorHandlerMode.NextDelivery"/> rolls the last attempt back and moves the message when it is received once more.
    /// </para>
    /// </remarks>
    /// <param name="rebus">The endpoint's configuration.</param>
    /// <param name="mode"><c>dtc-off</c>, <c>scope-off</c> or <c>shared</c>.</param>
    /// <param name="connectionString">The database with the queues; in <c>shared</c> also that of the handlers' rows.</param>
    /// <param name="table">The table that holds the messages of all queues. It is created at the start if it is missing.</param>
    /// <param name="queue">The endpoint's queue.</param>
    /// <param name="errorHandlerMode">
    /// When a message whose attempts have failed is moved to the error queue; by default in <c>shared</c> at the next delivery.
    /// </param>
    /// <param name="transactionTimeout">
    /// How long a handler's transaction may last in <c>dtc-off</c>; by default <see cref="TransactionTimeout.Default"/>. When the time is up, the
    /// token of <c>MessageContext.Current.GetCancellationToken()</c> is cancelled, as it is when the bus begins to stop. A handler that returns later is rolled
    /// back. <see cref="DeadlineScope"/> names the limit of that.
    /// </param>
    /// <returns>The same configuration.</returns>
    /// <exception cref="ArgumentOutOfRangeException">See <see cref="TransactionTimeout.Require"/>.</exception>
    /// <exception cref="NotSupportedException">Rebus does not support the mode. The message says why.</exception>
    public static RebusConfigurer UseTransactionMode(
        this RebusConfigurer rebus, TransactionMode mode, string connectionString, string table, string queue,
        ErrorHandlerMode? errorHandlerMode = null, TimeSpan? transactionTimeout = null)
    {
        ArgumentNullException.ThrowIfNull(rebus);
        ArgumentNullException.ThrowIfNull(mode);
        ArgumentNullException.ThrowIfNull(queue);
        if (RebusSupport.Of(mode).Because is { } reason)
            throw new NotSupportedException($"Rebus cannot run in {mode}: {reason}.");

        var transactions = new TransactionSettings(mode, transactionTimeout ?? TransactionTimeout.Default);
        var ordinary = new PostgresConnectionHelper(connectionString);
        var lent = mode == TransactionMode.Shared ? new LentConnections(ordinary, connectionString, transactions.Isolation) : null;
        rebus.Transport(transport => transport.UsePostgreSql(
            lent is not null ? lent : mode == TransactionMode.DtcOff ? new ConnectionsOutsideScope(ordinary) : ordinary, table, queue));
        rebus.Options(options =>
        {
            var moment = errorHandlerMode ?? (mode == TransactionMode.Shared ? ErrorHandlerMode.NextDelivery : ErrorHandlerMode.Immediately);
            options.RetryStrategy(ErrorQueue.Of(queue), mode.Attempts, errorHandlerMode: moment);
            if (mode == TransactionMode.DtcOff)
            {
                AroundHandlers(options, new TransactionScopeStep(transactions));
                options.Decorate<ISubscriptionStorage>(context => new SubscriptionsOutsideScope(context.Get<ISubscriptionStorage>()));
            }

            if (lent is not null)
            {
                AroundHandlers(options, new ReceiveTransactionIsRequired());
                options.Decorate<ITransport>(context => new LendingTransport(context.Get<ITransport>()));
            }
        });
        return rebus;
    }

    private static void AroundHandlers(OptionsConfigurer options, IIncomingStep step) => options.Decorate<IPipeline>(context =>
        new PipelineStepInjector(context.Get<IPipeline>()).OnReceive(step, PipelineRelativePosition.Before, typeof(DispatchIncomingMessageStep)));
}
