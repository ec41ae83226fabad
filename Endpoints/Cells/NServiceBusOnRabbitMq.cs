using System.Reflection;
using Kit.Endpoints.Bare;
using Kit.Endpoints.Bare.RabbitMq;
using Kit.Handlers;
using Kit.Modes;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using NServiceBus;
using RabbitMQ.Client;
using QueueType = Kit.Endpoints.Bare.RabbitMq.QueueType;

namespace Kit.Endpoints.Cells;

/// <summary>NServiceBus on queues in RabbitMQ; the widgets are in PostgreSQL. Compiled only if the package feed has it.</summary>
public sealed class NServiceBusOnRabbitMq : IEndpointKind
{
    private static readonly RabbitMQTransport Any = new(RoutingTopology.Conventional(global::NServiceBus.QueueType.Classic), "host=localhost");

    public FrameworkFacts Facts => FactsOfNServiceBus.Facts;

    public string Transport => TransportName.RabbitMq;

    public WidgetServer WidgetServer => WidgetServer.PostgreSql;

    public IReadOnlyList<Assembly> Packages { get; } =
        [typeof(EndpointConfiguration).Assembly, typeof(RabbitMQTransport).Assembly, .. NServiceBusEndpoint.OutboxPackages, typeof(IConnection).Assembly];

    public IReadOnlyList<PhaseInstrument> Instruments => NServiceBusEndpoint.Instruments;

    public Support Supports(TransactionMode mode) => NServiceBusEndpoint.SupportOf(mode, Any);

    public IReadOnlyList<string> CodeOf(TransactionMode mode) =>
        NServiceBusEndpoint.CodeOf("new RabbitMQTransport(RoutingTopology.Conventional(QueueType.Quorum), broker)", mode);

    public void AddEndpoint(IServiceCollection services, EndpointSettings settings, HandleMessage handle)
    {
        var transport = RabbitMqTransportSettings.Parse(settings.Transport).For(settings.Concurrency);
        services.AddSingleton<IHostedService>(new BrokerCheck(transport, settings.Queue, ArgumentsOf(transport.QueueType)));
        NServiceBusEndpoint.Add(
            services, settings, handle, HandlerConnections.Open, TransportOf(transport), NServiceBusEndpoint.ErrorQueueOf(settings.Queue));
    }

    public IMessageQueue OpenQueue(string name, string transport)
    {
        var broker = RabbitMqTransportSettings.Parse(transport);
        return new RabbitMqCellQueue(
            new RabbitMqQueue(broker.Broker, name, broker.QueueType, hasRetries: false),
            // The transport reads the property of AMQP.
            message => message,
            cancellationToken => NServiceBusEndpoint.InstallAsync(
                name, TransportOf(broker), NServiceBusEndpoint.ErrorQueueOf(name), cancellationToken),
            (eventType, cancellationToken) => NServiceBusEndpoint.SubscribeAsync(
                name, TransportOf(broker), NServiceBusEndpoint.ErrorQueueOf(name), eventType, cancellationToken),
            properties => NServiceBusEndpoint.DeadLetterOf(properties.MessageId, header => RabbitMqCellQueue.HeaderOf(properties, header)));
    }

    // The arguments that the transport declares. They have no delivery limit, because the transport sets one as a policy, with the management plugin.
    private static Dictionary<string, object?> ArgumentsOf(QueueType type) =>
        type is QueueType.Quorum ? new() { ["x-queue-type"] = "quorum" } : [];

    // Without the queues for delays, which nothing uses. The transport's default prefetch is 3 for each handler.
    private static RabbitMQTransport TransportOf(RabbitMqTransportSettings settings) =>
        new(RoutingTopology.Conventional(TypeOf(settings.QueueType)), settings.Broker.Amqp.AbsoluteUri, enableDelayedDelivery: false)
        {
            PrefetchCountCalculation = _ => settings.Prefetch,
            ManagementApiConfiguration =
                new ManagementApiConfiguration(settings.Broker.Management.AbsoluteUri, settings.Broker.UserName, settings.Broker.Password),
        };

    private static global::NServiceBus.QueueType TypeOf(QueueType type) => type switch
    {
        QueueType.Classic => global::NServiceBus.QueueType.Classic,
        QueueType.Quorum => global::NServiceBus.QueueType.Quorum,
        _ => throw new ArgumentOutOfRangeException(nameof(type), type, "Unknown queue type."),
    };
}
