using System.Globalization;
using System.Reflection;
using Kit.Endpoints.Bare;
using Kit.Endpoints.Bare.RabbitMq;
using Kit.Endpoints.Wolverine;
using Kit.Handlers;
using Kit.Modes;
using Microsoft.EntityFrameworkCore;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Npgsql;
using RabbitMQ.Client;
using Wolverine;
using Wolverine.EntityFrameworkCore;
using Wolverine.RabbitMQ;
using Wolverine.Transports;

namespace Kit.Endpoints.Cells;

/// <summary>Wolverine on queues in RabbitMQ; the widgets are in PostgreSQL.</summary>
public sealed class WolverineOnRabbitMq : IEndpointKind
{
    // As Wolverine's own senders and receivers write and read them; the constants are internal.
    private const string ReplyAddress = "reply-uri";
    private const string Attempts = "attempts";

    public FrameworkFacts Facts => FactsOfWolverine.Facts;

    public string Transport => TransportName.RabbitMq;

    public WidgetServer WidgetServer => WidgetServer.PostgreSql;

    public Support SupportsProcesses => WolverineEndpoint.IsForOneProcess;

    // The assemblies of its other packages have no version; the packages have this one's.
    public IReadOnlyList<Assembly> Packages { get; } = [typeof(WolverineOptions).Assembly, typeof(IConnection).Assembly, typeof(NpgsqlConnection).Assembly];

    public Support Supports(TransactionMode mode) => WolverineSupport.OnRabbitMq(mode);

    public string? OutboxTableOf(TransactionMode mode, string queue) => HasInbox(mode) ? WolverineNames.Outbox : null;

    public IReadOnlyList<string> CodeOf(TransactionMode mode) => HasInbox(mode)
        ?
        [
            "wolverine.Durability.Mode = DurabilityMode.Solo; // one process",
            $"wolverine.UseTransactionMode({ModeInCode.Of(mode)}, broker, \"orders\", data)",
            $"    .UseDurableInbox(new BufferingLimits({WolverineEndpoint.MostInMemory}, {WolverineEndpoint.FewInMemory})).MaximumParallelMessages(2);",
        ]
        : [$"wolverine.UseTransactionMode({ModeInCode.Of(mode)}, broker, \"orders\").ListenerCount(2);"];

    public void AddEndpoint(IServiceCollection services, EndpointSettings settings, HandleMessage handle)
    {
        var transport = RabbitMqTransportSettings.Parse(settings.Transport).For(settings.Concurrency);
        services.AddSingleton<IHostedService>(new BrokerCheck(transport, settings.Queue, ArgumentsOf(settings.Queue, transport.QueueType)));
        services.AddSingleton(handle);
        services.AddSingleton<AddressOfQueue>(AddressOf);
        services.AddSingleton(_ => HandlerConnections.Open(settings));
        if (HasInbox(settings.Mode))
        {
            services.AddSingleton<IHostedService>(new TransportPool(settings.Widgets));
            services.AddDbContextWithWolverineIntegration<WolverineData>(data => data.UseNpgsql(settings.Widgets), WolverineNames.Schema);
        }

        services.AddWolverine(ExtensionDiscovery.ManualOnly, wolverine =>
        {
            WolverineEndpoint.SetForComparison(wolverine);
            wolverine.AddMessageHandler(
                typeof(BuildWidget), HasInbox(settings.Mode) ? new WolverineHandlerInItsTransaction() : new WolverineHandlerOnItsOwn());
            wolverine.PublishMessage<WidgetReady>().ToRabbitExchange(ExchangeOf(typeof(WidgetReady)));
            var listener = wolverine.UseTransactionMode(
                settings.Mode, transport.Broker.Amqp, settings.Queue, settings.Widgets, WolverineNames.Schema);
            if (HasInbox(settings.Mode))
            {
                listener.UseDurableInbox(new BufferingLimits(WolverineEndpoint.MostInMemory, WolverineEndpoint.FewInMemory))
                    .PreFetchCount(transport.Prefetch)
                    .MaximumParallelMessages(settings.Concurrency);
            }
            else
            {
                // Each listener has a channel, and handles one message at a time.
                listener.PreFetchCount((ushort)(transport.Prefetch / settings.Concurrency)).ListenerCount(settings.Concurrency);
            }

            // It would be for answers to requests that the endpoint sends itself.
            wolverine.ConfigureRabbitMq().DisableSystemRequestReplyQueueDeclaration();
        });
    }

    public IMessageQueue OpenQueueOf(TransactionMode mode, string name, string transport, string widgets) => HasInbox(mode)
        ? new WolverineInboxQueue(OpenQueue(name, transport), AddressOf(name), widgets)
        : OpenQueue(name, transport);

    public IMessageQueue OpenQueue(string name, string transport)
    {
        var settings = RabbitMqTransportSettings.Parse(transport);
        var queue = new RabbitMqQueue(settings.Broker, name, settings.QueueType, hasRetries: false);
        return new RabbitMqCellQueue(queue, Addressed, CreateAsync, SubscribeAsync, DeadLetterOf, WolverineEndpoint.IdOf);

        async Task CreateAsync(CancellationToken cancellationToken)
        {
            await queue.DeclareAsync(ArgumentsOf(name, settings.QueueType), cancellationToken);
            await using var errors = new RabbitMqQueue(settings.Broker, ErrorQueue.Of(name), settings.QueueType, hasRetries: false);
            await errors.DeclareAsync(QueueArguments.Of(settings.QueueType, errors: null), cancellationToken);
        }

        Task SubscribeAsync(Type eventType, CancellationToken cancellationToken) => queue.BindExchangeAsync(ExchangeOf(eventType), cancellationToken);
    }

    private static bool HasInbox(TransactionMode mode) => mode == TransactionMode.Outbox;

    private static OutgoingMessage Addressed(OutgoingMessage message) => message.ReplyTo is not { } queue ? message : message with
    {
        Headers = message.Headers.Where(header => header.Key != OutgoingMessage.ReplyToHeader)
            .Append(new(ReplyAddress, AddressOf(queue).ToString()))
            .ToDictionary(StringComparer.Ordinal),
    };

    private static DeadLetter DeadLetterOf(IReadOnlyBasicProperties properties) => new(
        Guid.TryParse(properties.MessageId, out var id) ? id : Guid.Empty,
        int.TryParse(RabbitMqCellQueue.HeaderOf(properties, Attempts), CultureInfo.InvariantCulture, out var attempts) ? attempts : null,
        $"{RabbitMqCellQueue.HeaderOf(properties, DeadLetterQueueConstants.ExceptionTypeHeader)}: " +
        $"{RabbitMqCellQueue.HeaderOf(properties, DeadLetterQueueConstants.ExceptionMessageHeader)}")
    {
        Type = properties.Type ?? "",
    };

    private static Uri AddressOf(string queue) => new($"rabbitmq://queue/{queue}");

    /// <summary>The exchange that messages of a type are published to. Wolverine asks each publisher to name it.</summary>
    private static string ExchangeOf(Type eventType) => eventType.FullName!;

    private static IReadOnlyDictionary<string, object?> ArgumentsOf(string queue, QueueType type) => QueueArguments.Of(type, errors: ErrorQueue.Of(queue));
}
