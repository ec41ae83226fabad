namespace Kit.Endpoints.Bare.RabbitMq;

/// <summary>
/// What a queue is declared with. A quorum queue drops a message that was delivered more often than its delivery limit, deliveries included
/// that were only prefetched when their connection was lost: RabbitMQ 3 has no limit of its own, RabbitMQ 4.0 and later one of 20
/// (https://www.rabbitmq.com/docs/quorum-queues#poison-message-handling). So the kit sets a limit that no healthy message reaches, and
/// dead-letters what reaches it. It was run on 3.10; no 4.x was run.
/// </summary>
public static class QueueArguments
{
    /// <summary>After so many deliveries the broker gives a message up.</summary>
    public const int DeliveryLimit = 100_000;

    /// <summary>The arguments of a durable queue.</summary>
    /// <param name="type">How the broker keeps it. A classic queue has no delivery limit, and no arguments.</param>
    /// <param name="errors">The queue that takes what the broker gives up; <see langword="null"/> for an error queue.</param>
    public static IReadOnlyDictionary<string, object?> Of(QueueType type, string? errors) => type switch
    {
        QueueType.Classic => new Dictionary<string, object?>(),
        QueueType.Quorum when errors is null => new Dictionary<string, object?>
        {
            ["x-queue-type"] = "quorum",
            ["x-delivery-limit"] = DeliveryLimit,
        },
        QueueType.Quorum => new Dictionary<string, object?>
        {
            ["x-queue-type"] = "quorum",
            ["x-delivery-limit"] = DeliveryLimit,
            // The default exchange: its routing keys are the names of queues.
            ["x-dead-letter-exchange"] = "",
            ["x-dead-letter-routing-key"] = errors,
            // The default forgets a message before the error queue has it. At-least-once keeps it here until then, in case of a crash as
            // well, and is offered only to a queue that rejects publishes when it is full. With no length limit it is never full.
            ["x-dead-letter-strategy"] = "at-least-once",
            ["x-overflow"] = "reject-publish",
        },
        _ => throw new ArgumentOutOfRangeException(nameof(type), type, "Unknown type of queue."),
    };
}
