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
    /// <exception cref="NotSupportedException">The mode cannot be had, and why.</exception>
    public static void UseTransactionMode(this IReceiveEndpointConfigurator endpoint, TransactionMode mode, IRegistrationContext context)
    {
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
            endpoint.UseConsumeFilter(typeof(TransactionScopeFilter<>), context);
    }

    // There is no public setting (MassTransit issue 3788 shows this way).
    private static void DoNotAcknowledge(IReceiveEndpointConfigurator endpoint)
    {
        if (endpoint is not RabbitMqReceiveEndpointConfiguration { Settings: RabbitMqReceiveSettings settings })
            throw new NotSupportedException("transactions-off needs an endpoint on RabbitMQ, as MassTransit 8.4 builds it.");

        settings.NoAck = true;
    }
}
