namespace Kit.Endpoints.Bare.RabbitMq;

/// <summary>
/// The arguments that a queue is declared with. A quorum queue drops a message that it has delivered more often than its delivery limit, and
/// counts deliveries that were only prefetched when their connection was lost. RabbitMQ 3 has no default limit, RabbitMQ 4.0 and later have one
/// of 20 (https://www.rabbitmq.com/docs/quorum-queues#poison-message-handling). The kit therefore sets a limit that no healthy message reaches,
/// and dead-letters a message that reaches it. This was run on 3.10, and not on 4.x.
/// </summary>
public static class QueueArguments
{
    /// <summary>The number of deliveries after which the broker gives a message up.</summary>
    public const int DeliveryLimit = 100_000;

    /// <summary>The arguments of a durable queue.</summary>
    /// <param name="type">How the broker keeps it. A classic queue has no delivery limit.</param>
    /// <param name="errors">The queue for messages that the broker gives up; <see langword="null"/> for an error queue.</param>
    public static IReadOnlyDictionary<string, object?> Of(QueueType type, string? errors) => type switch
    {
        // The broker takes this for the same as no type, which a virtual host or a node can make a quorum queue.
        QueueType.Classic => new Dictionary<string, object?> { ["x-queue-type"] = "classic" },
        QueueType.Quorum when errors is null => new Dictionary<string, object?>
        {
            ["x-queue-type"] = "quorum",
            ["x-delivery-limit"] = DeliveryLimit,
        },
        QueueType.Quorum => new Dictionary<string, object?>
        {
            ["x-queue-type"] = "quorum",
            ["x-delivery-limit"] = DeliveryLimit,
            // The default exchange, whose routing keys are queue names.
            ["x-dead-letter-exchange"] = "",
            ["x-dead-letter-routing-key"] = errors,
            // By default a message is removed before the error queue has it. At-least-once keeps it here until then, also through a crash.
            // It requires a queue that rejects publishes when it is full. Without a length limit, the queue is never full.
            ["x-dead-letter-strategy"] = "at-least-once",
            ["x-overflow"] = "reject-publish",
        },
        _ => throw new ArgumentOutOfRangeException(nameof(type), type, "Unknown queue type."),
    };
}
