using Kit.Endpoints.MassTransit;
using Kit.Modes;
using MassTransit.RabbitMqTransport.Configuration;

// Where those look who configure an endpoint.
#pragma warning disable IDE0130 // Namespace does not match folder structure
namespace MassTransit;
#pragma warning restore IDE0130

/// <summary>The transaction mode of a receive endpoint on RabbitMQ, and queues that lose no message in it.</summary>
public static class ReceiveEndpointExtensions
{
    /// <summary>More deliveries than a healthy message ever has.</summary>
    public const int DefaultDeliveryLimit = 100_000;

    /// <summary>
    /// Makes the endpoint's queue a quorum queue whose delivery limit loses no message. RabbitMQ 4.0 and later give a message up after 20
    /// deliveries (RabbitMQ 3 after none), those included that were only prefetched when their connection was lost, and drop it where the
    /// queue has no dead-letter exchange. This queue has a higher limit, and dead-letters at least once to the error queue, which
    /// MassTransit then creates at the start and not with the first fault. It was run on RabbitMQ 3.10; no 4.x was run.
    /// </summary>
    /// <remarks>
    /// For queues that are created with it. A broker refuses to start the endpoint on a queue that is there with other arguments: there
    /// call <c>SetQuorumQueue</c> instead, and set the same by a policy on the broker.
    /// </remarks>
    /// <param name="endpoint">The endpoint, on RabbitMQ.</param>
    /// <param name="deliveryLimit">After so many deliveries the broker gives a message up.</param>
    /// <exception cref="ArgumentOutOfRangeException">A limit below 1.</exception>
    public static void UseQuorumQueue(this IRabbitMqReceiveEndpointConfigurator endpoint, int deliveryLimit = DefaultDeliveryLimit)
    {
        ArgumentNullException.ThrowIfNull(endpoint);
        ArgumentOutOfRangeException.ThrowIfLessThan(deliveryLimit, 1);
        var errors = MassTransitErrorQueue.Of(SettingsOf(endpoint, "UseQuorumQueue").QueueName!);
        // MassTransit gives the error queue the endpoint's arguments with the first fault, and they must be the same here.
        endpoint.BindDeadLetterQueue(errors, errors, queue => SetArguments(queue, errors, deliveryLimit));
        SetArguments(endpoint, errors, deliveryLimit);
    }

    /// <summary>
    /// Makes the consumers of an endpoint as transactional as the mode says. Call it before <c>ConfigureConsumer</c>: what is configured first is
    /// outside. With a quorum queue, call <see cref="UseQuorumQueue"/>, too. Each attempt has its own transaction, within its own outbox:
    /// retry (outbox (scope (consumer))).
    /// </summary>
    /// <param name="endpoint">The endpoint, on RabbitMQ.</param>
    /// <param name="mode"><c>dtc-off</c>, <c>scope-off</c> or <c>transactions-off</c>.</param>
    /// <param name="context">Of the bus that the endpoint belongs to.</param>
    /// <param name="transactionTimeout">How long a consumer's transaction may last in <c>dtc-off</c>: <see
    /// cref="TransactionTimeout.Default"/> when not given. It is judged when the consumer returns, and cancels its token before: see <see
    /// cref="DeadlineScope"/>, which names the limit of that.</param>
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
            UseScopes(endpoint, new TransactionScopes(new TransactionSettings(mode, transactionTimeout ?? TransactionTimeout.Default)));
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
        SettingsOf(endpoint, TransactionMode.TransactionsOff.Name).NoAck = true;
    }

    private static RabbitMqReceiveSettings SettingsOf(IReceiveEndpointConfigurator endpoint, string what) =>
        endpoint is RabbitMqReceiveEndpointConfiguration { Settings: RabbitMqReceiveSettings settings }
            ? settings
            : throw new NotSupportedException($"{what} needs an endpoint on RabbitMQ, as MassTransit 8.4 builds it.");

    private static void SetArguments(IRabbitMqQueueConfigurator queue, string errors, int deliveryLimit)
    {
        queue.SetQuorumQueue();
        queue.SetQueueArgument("x-delivery-limit", deliveryLimit);
        // To the queue itself, by the default exchange.
        queue.SetQueueArgument("x-dead-letter-exchange", "");
        queue.SetQueueArgument("x-dead-letter-routing-key", errors);
        // By default the broker forgets the message before the error queue has it. At-least-once needs a queue that rejects publishes when
        // it is full, and with no length limit it is never full.
        queue.SetQueueArgument("x-dead-letter-strategy", "at-least-once");
        queue.SetQueueArgument("x-overflow", "reject-publish");
    }
}
