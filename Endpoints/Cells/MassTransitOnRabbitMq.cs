using System.Data.Common;
using System.Diagnostics.Metrics;
using System.Globalization;
using System.Reflection;
using Kit.Endpoints.Bare;
using Kit.Endpoints.Bare.RabbitMq;
using Kit.Endpoints.MassTransit;
using Kit.Handlers;
using Kit.Modes;
using MassTransit;
using MassTransit.Monitoring;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Npgsql;
using RabbitMQ.Client;

namespace Kit.Endpoints.Cells;

/// <summary>MassTransit on queues in RabbitMQ; the widgets are in PostgreSQL.</summary>
public sealed class MassTransitOnRabbitMq : IEndpointKind
{
    private static readonly Lazy<Uri> Faults = new(() => AddressOf(ExchangeOf(typeof(Fault<BuildWidget>))));

    public FrameworkFacts Facts => FactsOfMassTransit.Facts;

    public string Transport => TransportName.RabbitMq;

    public WidgetServer WidgetServer => WidgetServer.PostgreSql;

    public IReadOnlyList<Assembly> Packages { get; } = [typeof(IBus).Assembly, typeof(IRabbitMqBusFactoryConfigurator).Assembly, typeof(IConnection).Assembly];

    // It measures neither the receive nor what follows the consumer apart from the whole.
    public IReadOnlyList<PhaseInstrument> Instruments { get; } =
        [new(MessagePhase.Handler, InstrumentationOptions.MeterName, "messaging.masstransit.consume.duration") { OnlyWith = "messaging.masstransit.consume" }];

    public Support Supports(TransactionMode mode) => MassTransitSupport.Of(mode);

    public IReadOnlyList<string> CodeOf(TransactionMode mode) => [$"endpoint.UseTransactionMode({ModeInCode.Of(mode)}, context);"];

    public void AddEndpoint(IServiceCollection services, EndpointSettings settings, HandleMessage handle)
    {
        var transport = RabbitMqTransportSettings.Parse(settings.Transport).For(settings.Concurrency);
        services.AddSingleton<IMeterFactory>(new LastingMeters());
        services.AddSingleton(handle);
        services.AddSingleton(_ => HandlerConnections.Open(settings));
        // Before the bus, which would retry for ever without saying what is wrong.
        services.AddSingleton<IHostedService>(new BrokerCheck(transport, settings.Queue, ArgumentsOf(settings.Queue, transport.QueueType)));
        services.AddOptions<MassTransitHostOptions>().Configure(host => host.WaitUntilStarted = true);
        services.AddMassTransit(bus =>
        {
            bus.DisableUsageTelemetry();
            bus.AddConsumer<BuildWidgetConsumer>();
            bus.UsingRabbitMq((context, rabbit) => Configure(context, rabbit, transport, settings));
        });
    }

    public IMessageQueue OpenQueue(string name, string transport)
    {
        var settings = RabbitMqTransportSettings.Parse(transport);
        var queue = new RabbitMqQueue(settings.Broker, name, settings.QueueType, hasRetries: false, MassTransitErrorQueue.Of(name));
        return new RabbitMqCellQueue(queue, Addressed, CreateAsync, SubscribeAsync, DeadLetterOf);

        async Task CreateAsync(CancellationToken cancellationToken)
        {
            await queue.DeclareAsync(ArgumentsOf(name, settings.QueueType), cancellationToken);
            await queue.BindExchangeAsync(cancellationToken);
        }

        // As MassTransit binds the queue of a consumer of that type, except that it binds the queue's exchange.
        Task SubscribeAsync(Type eventType, CancellationToken cancellationToken) =>
            queue.BindExchangeAsync(ExchangeOf(eventType), cancellationToken);
    }

    /// <summary>
    /// A request names its response address. It also names where its faults go, and that is where MassTransit publishes those of other messages: without
    /// it, MassTransit sends them to the response address, next to the replies.
    /// </summary>
    private static OutgoingMessage Addressed(OutgoingMessage message) => message.ReplyTo is not { } queue ? message : message with
    {
        Headers = message.Headers.Where(header => header.Key != OutgoingMessage.ReplyToHeader)
            .Append(new(MessageHeaders.ResponseAddress, AddressOf(queue).ToString()))
            .Append(new(MessageHeaders.FaultAddress, Faults.Value.ToString()))
            .ToDictionary(StringComparer.Ordinal),
    };

    /// <summary>The address of a queue, by the exchange with its name.</summary>
    private static Uri AddressOf(string queue) => new($"exchange:{queue}");

    /// <summary>The exchange that MassTransit publishes messages of a type to. It is asked of a bus that never starts.</summary>
    private static string ExchangeOf(Type eventType) => Bus.Factory.CreateUsingRabbitMq(_ => { }).Topology.TryGetPublishAddress(eventType, out var address)
        ? Uri.UnescapeDataString(address.Segments[^1])
        : throw new ArgumentException($"MassTransit publishes no messages of type {eventType}.", nameof(eventType));

    private static DeadLetter DeadLetterOf(IReadOnlyBasicProperties properties) => new(
        Guid.TryParse(properties.MessageId, out var id) ? id : Guid.Empty,
        int.TryParse(RabbitMqCellQueue.HeaderOf(properties, MessageHeaders.FaultRetryCount), CultureInfo.InvariantCulture, out var retries)
            ? retries + 1
            : null,
        RabbitMqCellQueue.HeaderOf(properties, MessageHeaders.FaultExceptionType) is { Length: > 0 } type
            ? $"{type}: {RabbitMqCellQueue.HeaderOf(properties, MessageHeaders.FaultMessage)}"
            : RabbitMqQueue.BrokersReasonOf(properties));

    private static IReadOnlyDictionary<string, object?> ArgumentsOf(string queue, QueueType type) =>
        QueueArguments.Of(type, errors: MassTransitErrorQueue.Of(queue));

    private static void Configure(
        IBusRegistrationContext context, IRabbitMqBusFactoryConfigurator rabbit, RabbitMqTransportSettings transport,
        EndpointSettings settings)
    {
        rabbit.Host(transport.Broker.Amqp, host =>
        {
            host.Username(transport.Broker.UserName);
            host.Password(transport.Broker.Password);
            host.PublisherConfirmation = true;
        });
        // The body is only the message, as in every other framework, without MassTransit's envelope.
        rabbit.UseRawJsonSerializer(isDefault: true);
        rabbit.ReceiveEndpoint(settings.Queue, endpoint =>
        {
            if (transport.QueueType is QueueType.Quorum)
                endpoint.UseQuorumQueue(QueueArguments.DeliveryLimit);

            endpoint.ConfigureConsumeTopology = false;
            endpoint.PrefetchCount = transport.Prefetch;
            endpoint.ConcurrentMessageLimit = settings.Concurrency;
            endpoint.UseTransactionMode(settings.Mode, context, settings.TransactionTimeout);
            endpoint.ConfigureConsumer<BuildWidgetConsumer>(context);
        });
    }

    /// <summary>
    /// MassTransit creates its instruments once in a process, from the first host's meters. A host disposes of its own meters, and a later host of the
    /// process, such as that of the drain after the warm-up, would measure nothing.
    /// </summary>
    private sealed class LastingMeters : IMeterFactory
    {
        public Meter Create(MeterOptions options) => new(options);

        public void Dispose()
        {
            // The meters last as long as the process.
        }
    }

    private sealed class BuildWidgetConsumer(HandleMessage handle, NpgsqlDataSource data) : IConsumer<BuildWidget>
    {
        public async Task Consume(ConsumeContext<BuildWidget> context)
        {
            await using var adapter = new Adapter(context, data);
            await handle(context.Message, adapter, context.CancellationToken);
        }
    }

    private sealed class Adapter(ConsumeContext context, NpgsqlDataSource data) : IMessageContext, IAsyncDisposable
    {
        private NpgsqlConnection? connection;

        public async ValueTask<DbConnection> GetAsync(CancellationToken cancellationToken) => connection ??= await data.OpenConnectionAsync(cancellationToken);

        public ValueTask<DbTransaction?> GetTransactionAsync(CancellationToken cancellationToken) => ValueTask.FromResult<DbTransaction?>(null);

        public async Task SendAsync(string queue, WidgetBuilt message, CancellationToken cancellationToken)
        {
            var endpoint = await context.GetSendEndpoint(AddressOf(queue));
            await endpoint.Send(message, Pipe.Execute<SendContext<WidgetBuilt>>(send => send.MessageId = message.MessageId), cancellationToken);
        }

        // Without an address MassTransit would publish the reply, to queues that have asked for nothing.
        public Task ReplyAsync(WidgetBuilt message, CancellationToken cancellationToken) => context.ResponseAddress is null
            ? throw new InvalidOperationException(
                $"Expected a response address in message {context.MessageId}, and it names none. The sender of a request must name one.")
            : context.RespondAsync(message, Pipe.Execute<SendContext<WidgetBuilt>>(send => send.MessageId = message.MessageId));

        public Task PublishAsync(WidgetReady message, CancellationToken cancellationToken) =>
            context.Publish(message, Pipe.Execute<PublishContext<WidgetReady>>(publish => publish.MessageId = message.MessageId), cancellationToken);

        public ValueTask DisposeAsync() => connection?.DisposeAsync() ?? ValueTask.CompletedTask;
    }
}
