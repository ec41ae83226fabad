using Kit.Modes;
using MassTransit;
using MassTransit.RabbitMqTransport.Configuration;

namespace Kit.Endpoints.MassTransit;

public static class ReceiveEndpointExtensions
{
    /// <summary>
    /// Makes the consumers of an endpoint as transactional as the mode says. Call it before <c>ConfigureConsumer</c>: what is configured first is
    /// outside. Each attempt has its own transaction, within its own outbox: retry (outbox (scope (consumer))).
    /// </summary>
    /// <param name="endpoint">The endpoint, on RabbitMQ.</param>
    /// <param name="mode"><c>dtc-off</c>, <c>scope-off</c> or <c>transactions-off</c>.</param>
    /// <param name="context">Of the bus that the endpoint belongs to.</param>
    /// <param name="transactionTimeout">How long a consumer's transaction may last in <c>dtc-off</c>: <see cref="TransactionTimeout.Default"/> when not given.
    /// It is judged when the consumer returns, and cancels its token before: see <see cref="DeadlineScope"/>, which names the limit of that.</param>
    /// <exception cref="ArgumentOutOfRangeException">See <see cref="TransactionTimeout.Require"/>.</exception>
    /// <exception cref="NotSupportedException">The mode is not offered, and why.</exception>
    public static void UseTransactionMode(
        this IReceiveEndpointConfigurator endpoint, TransactionMode mode, IRegistrationContext context, TimeSpan? transactionTimeout = null)
    {
        ArgumentNullException.ThrowIfNull(endpoint);
        ArgumentNullException.ThrowIfNull(mode);
        if (MassTransitSupport.Of(mode).Because is { } reason)
            throw new NotSupportedException($"MassTransit cannot run in {mode}: {reason}.");

        if (mode == TransactionMode.TransactionsOff)
        {
            DoNotAcknowledge(endpoint);
            return;
        }

        endpoint.UseMessageRetry(retry => retry.Immediate(mode.ImmediateRetries));
        endpoint.UseInMemoryOutbox(context);
        if (mode == TransactionMode.DtcOff)
            UseScopes(endpoint, new TransactionScopes(TransactionTimeout.Require(transactionTimeout ?? TransactionTimeout.Default)));
    }

    private static void UseScopes(IReceiveEndpointConfigurator endpoint, TransactionScopes scopes)
    {
        endpoint.ConnectConsumerConfigurationObserver(scopes);
        endpoint.ConnectSagaConfigurationObserver(scopes);
        endpoint.ConnectHandlerConfigurationObserver(scopes);
    }

    // There is no public setting (MassTransit issue 3788 shows this way).
    private static void DoNotAcknowledge(IReceiveEndpointConfigurator endpoint)
    {
        if (endpoint is not RabbitMqReceiveEndpointConfiguration { Settings: RabbitMqReceiveSettings settings })
            throw new NotSupportedException("transactions-off needs an endpoint on RabbitMQ, as MassTransit 8.4 builds it.");

        settings.NoAck = true;
    }
}
