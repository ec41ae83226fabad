namespace Kit.Endpoints.Bare.RabbitMq;

/// <param name="Address">The broker.</param>
/// <param name="QueueType">How the broker keeps the endpoint's queues.</param>
/// <param name="Prefetch">How many messages the broker pushes ahead of their acknowledgement, to the endpoint as a whole.</param>
internal sealed record RabbitMqSettings(RabbitMqAddress Address, QueueType QueueType, ushort Prefetch);
