namespace Kit.Endpoints.Bare.RabbitMq;

/// <param name="Address">The broker.</param>
/// <param name="QueueType">How the broker stores the endpoint's queues.</param>
/// <param name="Prefetch">How many unacknowledged messages the broker pushes to the endpoint as a whole.</param>
internal sealed record RabbitMqSettings(RabbitMqAddress Address, QueueType QueueType, ushort Prefetch);
