using System.Reflection;
using Kit.Endpoints.Bare;
using Kit.Endpoints.Bare.RabbitMq;
using Kit.Handlers;
using Kit.Modes;
using Microsoft.Extensions.DependencyInjection;
using RabbitMQ.Client;

namespace Kit.Endpoints.Cells;

/// <summary>The driver alone, on queues in RabbitMQ; the widgets are in PostgreSQL.</summary>
public sealed class BareOnRabbitMq : IEndpointKind
{
    public FrameworkFacts Facts => FactsOfBare.Facts;

    public string Transport => TransportName.RabbitMq;

    public WidgetServer WidgetServer => WidgetServer.PostgreSql;

    public bool HasSettings => true;

    public IReadOnlyList<Assembly> Packages { get; } = [typeof(IConnection).Assembly];

    public IReadOnlyList<PhaseInstrument> Instruments => PhaseInstrument.OfBareEndpoints;

    public Support Supports(TransactionMode mode) => RabbitMqSupport.Of(mode);

    public Support Supports(TransactionMode mode, LogFlush flush) => flush == LogFlush.Every ? Support.Yes : RabbitMqSupport.LeftOutFlushes;

    public int LeastConnections(TransactionMode mode, int concurrency) => concurrency;

    public IReadOnlyList<string> CodeOf(TransactionMode mode) => BareCells.CodeOf("UseRabbitMq(broker, data)", mode);

    public void AddEndpoint(IServiceCollection services, EndpointSettings settings, HandleMessage handle)
    {
        var transport = RabbitMqTransportSettings.Parse(settings.Transport).For(settings.Concurrency);
        services
            .AddSingleton(handle)
            .AddBareEndpoint(settings.Queue, endpoint => endpoint
                .UseRabbitMq(transport.Broker.Text, settings.Widgets, transport.QueueType, transport.Prefetch)
                .BuildWidgets(settings));
    }

    public string? OutboxTableOf(TransactionMode mode, string queue) => mode == TransactionMode.Outbox ? $"{queue}_outbox" : null;

    public IMessageQueue OpenQueue(string name, string transport)
    {
        var settings = RabbitMqTransportSettings.Parse(transport);
        return new RabbitMqQueue(settings.Broker, name, settings.QueueType);
    }
}
