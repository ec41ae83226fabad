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
    /// parallelism, routing, subscriptions. Do not set a transport or a retry strategy as well.
    /// </summary>
    /// <remarks>
    /// <para>
    /// In <c>dtc-off</c> handlers open connections that enlist in the ambient transaction. The transport's own connection, which received the message and
    /// on which sends are written, stays outside, and so does that of the subscription storage.
    /// </para>
    /// <para>
    /// In <c>shared</c> each handler works in the transaction that received its message (<see
    /// cref="ReceiveTransactionExtensions.GetReceiveTransaction"/>). If a handler does not take it, the message fails.
    /// </para>
    /// <para>
    /// The data of sagas is outside all of this, in every mode: Rebus saves it on a connection of its own when the handlers have returned.
    /// </para>
    /// <para>
    /// Rebus's default, <see cref="ErrorHandlerMode.Immediately"/>, moves a message to the error queue within its last attempt, and then commits the
    /// receive's transaction: the sends of that attempt go out, and in <c>shared</c> its rows stay.
    /// <see cref="ErrorHandlerMode.NextDelivery"/> rolls the last attempt back and moves the message when it is received once more.
    /// </para>
    /// </remarks>
    /// <param name="rebus">The endpoint's configuration.</param>
    /// <param name="mode"><c>dtc-off</c>, <c>scope-off</c> or <c>shared</c>.</param>
    /// <param name="connectionString">The database with the queues; in <c>shared</c> also that of the handlers' rows.</param>
    /// <param name="table">The table that holds the messages of all queues. It is created at the start if it is missing.</param>
    /// <param name="queue">The endpoint's queue.</param>
    /// <param name="errorHandlerMode">When a message whose attempts have failed is moved to the error queue.</param>
    /// <param name="transactionTimeout">
    /// How long a handler's transaction may last in <c>dtc-off</c>; by default <see cref="TransactionTimeout.Default"/>. When the time is up, the
    /// <see cref="CancellationToken"/> of the incoming step context is cancelled. A handler that returns later is rolled back. <see cref="DeadlineScope"/>
    /// names the limit of that.
    /// </param>
    /// <returns>The same configuration.</returns>
    /// <exception cref="ArgumentOutOfRangeException">See <see cref="TransactionTimeout.Require"/>.</exception>
    /// <exception cref="NotSupportedException">Rebus does not support the mode. The message says why.</exception>
    public static RebusConfigurer UseTransactionMode(
        this RebusConfigurer rebus, TransactionMode mode, string connectionString, string table, string queue,
        ErrorHandlerMode errorHandlerMode = ErrorHandlerMode.Immediately, TimeSpan? transactionTimeout = null)
    {
        ArgumentNullException.ThrowIfNull(rebus);
        ArgumentNullException.ThrowIfNull(mode);
        ArgumentNullException.ThrowIfNull(queue);
        if (RebusSupport.Of(mode).Because is { } reason)
            throw new NotSupportedException($"Rebus cannot run in {mode}: {reason}.");

        var transactions = new TransactionSettings(mode, transactionTimeout ?? TransactionTimeout.Default);
        var ordinary = new PostgresConnectionHelper(connectionString);
        var lent = mode == TransactionMode.Shared ? new LentConnections(ordinary, connectionString, transactions.Isolation) : null;
        rebus.Transport(transport => transport.UsePostgreSql(lent is null ? ordinary : lent, table, queue));
        rebus.Options(options =>
        {
            options.RetryStrategy(ErrorQueue.Of(queue), mode.Attempts, errorHandlerMode: errorHandlerMode);
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
