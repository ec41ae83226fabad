using Npgsql;

namespace Kit.Endpoints.Bare.RabbitMq;

public static class BareEndpointBuilderExtensions
{
    /// <summary>What a measured setup of MassTransit used; an endpoint of two handlers gains little from more.</summary>
    public const ushort DefaultPrefetch = 32;

    /// <summary>
    /// Queues in RabbitMQ: durable, with persistent messages and publisher confirms. The endpoint creates those that are not there when it
    /// starts, as
    /// <see cref="QueueArguments"/> says. Those that are there it leaves as they are, and warns in the log of what can lose messages: a low
    /// delivery limit, no dead-letter exchange, a time to live, a length limit. It asks the management plugin for that; without it, it says
    /// so.
    /// </summary>
    /// <param name="endpoint">The endpoint.</param>
    /// <param name="broker">As <see cref="RabbitMqAddress"/> reads it.</param>
    /// <param name="dataConnectionString">The database that handlers open.</param>
    /// <param name="queueType">How the broker keeps the endpoint's queues.</param>
    /// <param name="prefetch">How many messages the broker pushes ahead of their acknowledgement, to the endpoint as a whole; without effect in
    /// <c>transactions-off</c>, where nothing is acknowledged and the broker pushes all it has.</param>
    /// <exception cref="ArgumentException">The connection string cannot be read.</exception>
    /// <exception cref="ArgumentOutOfRangeException">A prefetch of 0, which AMQP takes for no limit.</exception>
    /// <exception cref="BrokerException">The address cannot be read.</exception>
    public static BareEndpointBuilder UseRabbitMq(
        this BareEndpointBuilder endpoint, string broker, string dataConnectionString,
        QueueType queueType = QueueType.Classic, ushort prefetch = DefaultPrefetch)
    {
        ArgumentOutOfRangeException.ThrowIfZero(prefetch);
        var settings = new RabbitMqSettings(RabbitMqAddress.Parse(broker), queueType, prefetch);
        var data = new NpgsqlConnectionStringBuilder(dataConnectionString);
        return endpoint.UseTransport((pipeline, log) => new RabbitMqEndpoint(endpoint, settings, data, pipeline, log));
    }
}
