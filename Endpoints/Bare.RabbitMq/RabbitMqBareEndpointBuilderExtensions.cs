using Kit.Endpoints.Bare.RabbitMq;
using Npgsql;

namespace Kit.Endpoints.Bare;

/// <summary>Puts an endpoint's queues into RabbitMQ: durable, with persistent messages and publisher confirms.</summary>
public static class RabbitMqBareEndpointBuilderExtensions
{
    /// <summary>The default prefetch for each handler: one message to handle, and two that are ready when it is done.</summary>
    private const int AheadForEachHandler = 3;

    /// <summary>
    /// Uses queues in RabbitMQ. When the endpoint starts, it creates missing queues with <see cref="QueueArguments"/>. It does not change existing
    /// queues, but logs a warning about settings that can lose messages: a low delivery limit, no dead-letter exchange, a time to live, a length
    /// limit. It asks the management plugin for them, and logs if it cannot.
    /// </summary>
    /// <param name="endpoint">The endpoint.</param>
    /// <param name="broker">The broker's address, in the form of <see cref="RabbitMqAddress"/>.</param>
    /// <param name="dataConnectionString">The handlers' database.</param>
    /// <param name="queueType">How the broker stores the endpoint's queues.</param>
    /// <param name="prefetch">
    /// How many unacknowledged messages the broker pushes to the endpoint as a whole; by default three for each concurrent handler. It has no
    /// effect in <c>transactions-off</c>, where nothing is acknowledged and the broker pushes all its messages.
    /// </param>
    /// <exception cref="ArgumentException">The connection string cannot be read, or shares sessions: Multiplexing.</exception>
    /// <exception cref="ArgumentOutOfRangeException">The prefetch is 0, which means no limit in AMQP.</exception>
    /// <exception cref="BrokerException">The address cannot be read.</exception>
    public static BareEndpointBuilder UseRabbitMq(
        this BareEndpointBuilder endpoint, string broker, string dataConnectionString,
        QueueType queueType = QueueType.Classic, ushort? prefetch = null) =>
        endpoint.UseRabbitMq(broker, new DatabaseAccess(dataConnectionString).ForSessions(nameof(dataConnectionString)), queueType, prefetch);

    /// <summary>Uses queues in RabbitMQ, and the application's data source for handlers. The endpoint uses it unchanged and does not dispose it.</summary>
    /// <inheritdoc cref="UseRabbitMq(BareEndpointBuilder, string, string, QueueType, ushort?)"/>
    /// <param name="endpoint">The endpoint.</param>
    /// <param name="broker">The broker's address, in the form of <see cref="RabbitMqAddress"/>.</param>
    /// <param name="data">The handlers' database.</param>
    /// <param name="queueType">How the broker stores the endpoint's queues.</param>
    /// <param name="prefetch">How many unacknowledged messages the broker pushes to the endpoint; by default three for each concurrent handler.</param>
    public static BareEndpointBuilder UseRabbitMq(
        this BareEndpointBuilder endpoint, string broker, NpgsqlDataSource data,
        QueueType queueType = QueueType.Classic, ushort? prefetch = null) =>
        endpoint.UseRabbitMq(broker, new DatabaseAccess(data).ForSessions(nameof(data)), queueType, prefetch);

    private static BareEndpointBuilder UseRabbitMq(
        this BareEndpointBuilder endpoint, string broker, DatabaseAccess data, QueueType queueType, ushort? prefetch)
    {
        ArgumentNullException.ThrowIfNull(endpoint);
        ArgumentOutOfRangeException.ThrowIfZero(prefetch ?? 1, nameof(prefetch));
        var address = RabbitMqAddress.Parse(broker);
        return endpoint.UseTransport(RabbitMqEndpoint.MessagingSystem, (pipeline, log) =>
        {
            var ahead = prefetch ?? (ushort)Math.Min(ushort.MaxValue, endpoint.Concurrency * AheadForEachHandler);
            return new RabbitMqEndpoint(endpoint, new RabbitMqSettings(address, queueType, ahead), data, pipeline, log);
        });
    }
}
