using System.Runtime.CompilerServices;
using Kit.Endpoints.MassTransit;
using Kit.Modes;
using MassTransit.Configuration;
using MassTransit.RabbitMqTransport.Configuration;

// In MassTransit's namespace, so that the methods are found where endpoints are configured.
#pragma warning disable IDE0130 // Namespace does not match folder structure
namespace MassTransit;
#pragma warning restore IDE0130

/// <summary>Sets the transaction mode of a receive endpoint on RabbitMQ, and makes its queue lose no message.</summary>
public static class ReceiveEndpointExtensions
{
    /// <summary>More deliveries than a healthy message ever gets.</summary>
    public const int DefaultDeliveryLimit = 100_000;

    private static readonly ConditionalWeakTable<RabbitMqReceiveSettings, TransactionMode> Chosen = [];

    /// <summary>
    /// Makes the endpoint's queue a quorum queue whose delivery limit loses no message. RabbitMQ 4.0 and later give a message up after 20
    /// deliveries (RabbitMQ 3 never does), and count deliveries that were only prefetched when their connection was lost. They drop the message if
    /// the queue has no dead-letter exchange. This queue has a higher limit and dead-letters at least once to the error queue, which MassTransit
    /// then creates at the start and not with the first fault. This was run on RabbitMQ 3.10, and not on 4.x.
    /// </summary>
    /// <remarks>
    /// Only for queues that it creates: on an existing queue with other arguments, the broker refuses and the endpoint does not start. For such a
    /// queue, call <c>SetQuorumQueue</c> instead, and set the same values with a policy on the broker.
    /// </remarks>
    /// <param name="endpoint">The endpoint, on RabbitMQ.</param>
    /// <param name="deliveryLimit">The number of deliveries after which the broker gives a message up.</param>
    /// <exception cref="ArgumentOutOfRangeException">The limit is below 1.</exception>
    public static void UseQuorumQueue(this IRabbitMqReceiveEndpointConfigurator endpoint, int deliveryLimit = DefaultDeliveryLimit)
    {
        ArgumentNullException.ThrowIfNull(endpoint);
        ArgumentOutOfRangeException.ThrowIfLessThan(deliveryLimit, 1);
        var errors = MassTransitErrorQueue.Of(SettingsOf(endpoint, "UseQuorumQueue").QueueName!);
        // At the first fault MassTransit declares the error queue with the endpoint's arguments, so they must be the same here.
        endpoint.BindDeadLetterQueue(errors, errors, queue => SetArguments(queue, errors, deliveryLimit));
        SetArguments(endpoint, errors, deliveryLimit);
    }

    /// <summary>
    /// Sets the transaction mode of an endpoint's consumers. Call it before <c>ConfigureConsumer</c>, because filters that are configured first
    /// run outside later ones. For a quorum queue, also call <see cref="UseQuorumQueue"/>. Each attempt has its own transaction in its own outbox:
    /// retry (outbox (scope (consumer))). A send of a consumer that reaches no queue fails, which RabbitMQ and MassTransit otherwise do not notice; a delayed
    /// one does not. What a consumer or a saga schedules leaves at once, once for each attempt.
    /// </summary>
    /// <remarks>
    /// The endpoint receives nothing, and its health and log say why, if a retry or a redelivery of yours would be within the mode's outbox: one that is set
    /// later, in a <c>ConsumerDefinition</c>, or on a consumer. Set it on the endpoint, before the mode. In <c>transactions-off</c> none may be there. The same
    /// with the host's <c>PublisherConfirmation</c> off, which is on by default: a send that the broker loses would not be noticed; and with a queue that is
    /// purged at the start, deleted with its consumers, or not durable.
    /// </remarks>
    /// <param name="endpoint">The endpoint, on RabbitMQ.</param>
    /// <param name="mode"><c>dtc-off</c>, <c>scope-off</c> or <c>transactions-off</c>.</param>
    /// <param name="context">The context of the bus that the endpoint belongs to.</param>
    /// <param name="transactionTimeout">
    /// How long a consumer's transaction may last in <c>dtc-off</c>; by default <see cref="TransactionTimeout.Default"/>. When the time is up, the
    /// consumer's token is cancelled. A consumer that returns later is rolled back. <see cref="DeadlineScope"/> names the limit of that.
    /// </param>
    /// <exception cref="ArgumentOutOfRangeException">See <see cref="TransactionTimeout.Require"/>.</exception>
    /// <exception cref="InvalidOperationException">The endpoint has a mode.</exception>
    /// <exception cref="NotSupportedException">MassTransit does not support the mode, or not on this endpoint. The message says why.</exception>
    public static void UseTransactionMode(
        this IReceiveEndpointConfigurator endpoint, TransactionMode mode, IRegistrationContext context, TimeSpan? transactionTimeout = null)
    {
        ArgumentNullException.ThrowIfNull(endpoint);
        ArgumentNullException.ThrowIfNull(mode);
        if (MassTransitSupport.Of(mode).Because is { } reason)
            throw new NotSupportedException($"MassTransit cannot run in {mode}: {reason}.");

        var settings = SettingsOf(endpoint, mode.Name);
        if (!Chosen.TryAdd(settings, mode))
            throw new InvalidOperationException("The endpoint already has a transaction mode: call UseTransactionMode only once.");

        // The host, consumers and their retries may be configured later.
        var before = new BeforeItReceives((IReceiveEndpointConfiguration)endpoint, settings, mode);
        ((IRabbitMqReceiveEndpointConfigurator)endpoint).ConfigureChannel(channel => channel.UseExecute(before.Require));
        if (mode == TransactionMode.TransactionsOff)
        {
            // There is no public setting. MassTransit issue 3788 shows this workaround.
            settings.NoAck = true;
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
        endpoint.ConnectActivityConfigurationObserver(scopes);
    }

    private static RabbitMqReceiveSettings SettingsOf(IReceiveEndpointConfigurator endpoint, string what) =>
        endpoint is RabbitMqReceiveEndpointConfiguration { Settings: RabbitMqReceiveSettings settings }
            ? settings
            : throw new NotSupportedException($"{what} needs a RabbitMQ endpoint of MassTransit 8, found a {endpoint.GetType().Name}.");

    private static void SetArguments(IRabbitMqQueueConfigurator queue, string errors, int deliveryLimit)
    {
        queue.SetQuorumQueue();
        queue.SetQueueArgument("x-delivery-limit", deliveryLimit);
        // Directly to the queue, through the default exchange.
        queue.SetQueueArgument("x-dead-letter-exchange", "");
        queue.SetQueueArgument("x-dead-letter-routing-key", errors);
        // By default the broker removes the message before the error queue has it. At-least-once requires a queue that rejects publishes when
        // it is full. Without a length limit, the queue is never full.
        queue.SetQueueArgument("x-dead-letter-strategy", "at-least-once");
        queue.SetQueueArgument("x-overflow", "reject-publish");
    }
}
