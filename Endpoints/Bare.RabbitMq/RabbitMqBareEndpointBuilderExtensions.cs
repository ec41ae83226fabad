using Kit.Endpoints.Bare.RabbitMq;
using Npgsql;

namespace Kit.Endpoints.Bare;

/// <summary>Puts the queues of an endpoint into RabbitMQ: durable, with persistent messages and publisher confirms.</summary>
public static class RabbitMqBareEndpointBuilderExtensions
{
    /// <summary>What the broker pushes ahead for each handler when no prefetch is given: one to handle, and two that are there when it is done.</summary>
    private const int AheadForEachHandler = 3;

    /// <summary>
    /// Queues in RabbitMQ. When the endpoint starts, it creates the queues that are missing, as <see cref="QueueArguments"/> says. It leaves
    /// existing ones as they are, and warns in the log of what can lose messages: a low delivery limit, no dead-letter exchange, a time to live, a
    /// length limit. It asks the management plugin for that, and says so where it cannot.
    /// </summary>
    /// <param name="endpoint">The endpoint.</param>
    /// <param name="broker">As <see cref="RabbitMqAddress"/> reads it.</param>
    /// <param name="dataConnectionString">The database that handlers open.</param>
    /// <param name="queueType">How the broker keeps the endpoint's queues.</param>
    /// <param name="prefetch">How many messages the broker pushes ahead of their acknowledgement, to the endpoint as a whole; three for each
    /// handler that may run when not given. Without effect in
    /// <c>transactions-off</c>, where nothing is acknowledged and the broker pushes all it has.</param>
    /// <exception cref="ArgumentException">The connection string cannot be read.</exception>
    /// <exception cref="ArgumentOutOfRangeException">A prefetch of 0, which means no limit in AMQP.</exception>
    /// <exception cref="BrokerException">The address cannot be read.</exception>
    public static BareEndpointBuilder UseRabbitMq(
        this BareEndpointBuilder endpoint, string broker, string dataConnectionString,
        QueueType queueType = QueueType.Classic, ushort? prefetch = null) =>
        endpoint.UseRabbitMq(broker, new DatabaseAccess(dataConnectionString), queueType, prefetch);

    /// <summary>The same with a data source of the application's for handlers, which the endpoint uses as it is and does not dispose.</summary>
    /// <inheritdoc cref="UseRabbitMq(BareEndpointBuilder, string, string, QueueType, ushort?)"/>
    /// <param name="endpoint">The endpoint.</param>
    /// <param name="broker">As <see cref="RabbitMqAddress"/> reads it.</param>
    /// <param name="data">The database that handlers open.</param>
    /// <param name="queueType">How the broker keeps the endpoint's queues.</param>
    /// <param name="prefetch">How many messages the broker pushes ahead of their acknowledgement; three for each handler when not given.</param>
    public static BareEndpointBuilder UseRabbitMq(
        this BareEndpointBuilder endpoint, string broker, NpgsqlDataSource data,
        QueueType queueType = QueueType.Classic, ushort? prefetch = null) =>
        endpoint.UseRabbitMq(broker, new DatabaseAccess(data), queueType, prefetch);

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
