using System.Data.Common;
using System.Reflection;
using Kit.Endpoints.NServiceBus;
using Kit.Handlers;
using Kit.Modes;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;
using Microsoft.Extensions.Logging.Abstractions;
using NServiceBus;
using NServiceBus.Extensibility;
using NServiceBus.Transport;
using NServiceBus.Unicast.Messages;
using DeadLetter = Kit.Endpoints.Bare.DeadLetter;
using OutgoingMessage = Kit.Endpoints.Bare.OutgoingMessage;

namespace Kit.Endpoints.Cells;

/// <summary>The NServiceBus cells on every transport: the comparison's settings, the handler, its connection, the installers, the headers.</summary>
internal static class NServiceBusEndpoint
{
    /// <summary>The group of optional packages that the outbox needs, as in build/OptionalPackages.targets.</summary>
    private const string OutboxGroup = "SqlPersistence";

    /// <summary>The package that keeps the outbox, if this build has it.</summary>
#if KIT_SQLPERSISTENCE
    public static IReadOnlyList<Assembly> OutboxPackages { get; } = [typeof(SqlPersistence).Assembly];
#else
    public static IReadOnlyList<Assembly> OutboxPackages { get; } = [];
#endif

    // Its processing time begins after the receive and ends before the transport's commit, so it is neither of the two.
    public static IReadOnlyList<PhaseInstrument> Instruments { get; } =
        [new(MessagePhase.Handler, "NServiceBus.Core.Pipeline.Incoming", "nservicebus.messaging.handler_time")];

    /// <summary>Support for the mode by the transport, and by this build, which may lack a package that the mode needs.</summary>
    public static Support SupportOf(TransactionMode mode, TransportDefinition transport) =>
        NServiceBusSupport.Of(mode, transport) is { IsSupported: false } unsupported ? unsupported
        : mode == TransactionMode.Outbox ? OptionalPackages.All.First(package => package.Group == OutboxGroup).Support
        : Support.Yes;

    /// <summary>The line that sets an endpoint's transport and mode.</summary>
    /// <param name="transport">The transport, as an application writes it.</param>
    public static IReadOnlyList<string> CodeOf(string transport, TransactionMode mode) =>
        [$"endpoint.UseTransactionMode({transport}, {ModeInCode.Of(mode)});"];

    public static void Add(
        IServiceCollection services, EndpointSettings settings, HandleMessage handle,
        Func<EndpointSettings, DbDataSource> openWidgets, TransportDefinition transport, string errorQueue)
    {
        var endpoint = Configure(settings, transport, errorQueue);
        if (settings.Mode == TransactionMode.Outbox)
        {
#if KIT_SQLPERSISTENCE
            NServiceBusOutbox.Use(endpoint, services, settings);
#else
            throw new NotSupportedException($"{SupportOf(settings.Mode, transport).Because}.");
#endif
        }

        endpoint.Conventions()
            .DefiningMessagesAs(type => type == typeof(BuildWidget) || type == typeof(WidgetBuilt))
            .DefiningEventsAs(type => type == typeof(WidgetReady));
        endpoint.AddHandler<BuildWidgetHandler>();
        services.AddSingleton(handle);
        services.AddSingleton(new HandlerSettings(settings.Mode, LentBy(transport, settings.Mode)));
        services.AddSingleton(_ => openWidgets(settings));
        AddTo(services, endpoint);
    }

    /// <summary>Creates an endpoint's queues with the transport's own installers, without starting the endpoint.</summary>
    public static async Task InstallAsync(string queue, TransportDefinition transport, string errorQueue, CancellationToken cancellationToken)
    {
        var settings = new EndpointSettings(queue, Transport: "", Widgets: "", TransactionMode.DtcOff, Concurrency: 1);
        var application = Host.CreateEmptyApplicationBuilder(settings: null);
        AddTo(application.Services, Configure(settings, transport, errorQueue));
        application.Services.AddNServiceBusInstallers(installers => installers.ShutdownBehavior = InstallersShutdownBehavior.Continue);
        var host = application.Build();
        await using ((IAsyncDisposable)host)
        {
            await host.StartAsync(cancellationToken);
            await host.StopAsync(cancellationToken);
        }
    }

    /// <summary>Subscribes a queue to a type of event with the transport's own subscriptions, without starting an endpoint.</summary>
    public static async Task SubscribeAsync(
        string queue, TransportDefinition transport, string errorQueue, Type eventType, CancellationToken cancellationToken)
    {
        var host = new HostSettings(queue, queue, new StartupDiagnosticEntries(), (_, _, _) => { }, setupInfrastructure: true);
        var receiver = new ReceiveSettings(queue, new QueueAddress(queue), usePublishSubscribe: true, purgeOnStartup: false, errorQueue);
        var infrastructure = await transport.Initialize(host, [receiver], sendingAddresses: [errorQueue], cancellationToken);
        await infrastructure.Receivers[queue].Subscriptions.SubscribeAll([new MessageMetadata(eventType)], new ContextBag(), cancellationToken);
        await infrastructure.Shutdown(cancellationToken);
    }

    /// <summary>The headers that a message needs. Its type is written as in the other frameworks, without the assembly.</summary>
    /// <param name="addressOf">The transport's address of a queue, for one that waits for a reply.</param>
    public static Dictionary<string, string> HeadersOf(OutgoingMessage message, Func<string, string> addressOf)
    {
        var headers = new Dictionary<string, string>
        {
            [Headers.MessageId] = message.MessageId.ToString(),
            [Headers.EnclosedMessageTypes] = message.Type,
            [Headers.ContentType] = ContentTypes.Json,
            [Headers.MessageIntent] = nameof(MessageIntent.Send),
        };
        if (message.ReplyTo is { } queue)
            headers[Headers.ReplyToAddress] = addressOf(queue);
        return headers;
    }

    public static string ErrorQueueOf(string queue) => ErrorQueue.Of(queue);

    public static DeadLetter DeadLetterOf(Dictionary<string, string> headers) => DeadLetterOf(headers[Headers.MessageId], headers.GetValueOrDefault);

    /// <summary>Reads the headers of a message in the error queue. They do not say how often it was handled.</summary>
    public static DeadLetter DeadLetterOf(string? messageId, Func<string, string?> header) => new(
        Guid.TryParse(messageId, out var id) ? id : Guid.Empty,
        FailedAttempts: null,
        ($"{header("NServiceBus.ExceptionInfo.ExceptionType")}: {header("NServiceBus.ExceptionInfo.Message")} " +
        $"{header("NServiceBus.ExceptionInfo.InnerExceptionType")}").TrimEnd());

    // Besides the mode, what the comparison requires: the same concurrency, body and error queue as the other frameworks, queues created at the
    // start, one explicitly registered handler, and no diagnostics file.
    private static EndpointConfiguration Configure(EndpointSettings settings, TransportDefinition transport, string errorQueue)
    {
        var endpoint = new EndpointConfiguration(settings.Queue);
        endpoint.UseTransactionMode(transport, settings.Mode, settings.TransactionTimeout);
        endpoint.LimitMessageProcessingConcurrencyTo(settings.Concurrency);
        endpoint.UseSerialization<SystemJsonSerializer>();
        endpoint.SendFailedMessagesTo(errorQueue);
        endpoint.EnableInstallers();
        endpoint.AssemblyScanner().Disable = true;
        endpoint.CustomDiagnosticsWriter((_, _) => Task.CompletedTask);
        return endpoint;
    }

    /// <summary>The lender of the handlers' connection; <see langword="null"/> if they open their own.</summary>
    private static NServiceBusLentConnection? LentBy(TransportDefinition transport, TransactionMode mode)
    {
        if (mode == TransactionMode.Shared)
            return NServiceBusLentConnection.Receive;
#if KIT_SQLPERSISTENCE
        if (mode == TransactionMode.Outbox)
            return NServiceBusOutbox.Session;
#endif
        return transport is TwoPhasePostgreSqlTransport ? NServiceBusLentConnection.Branch : null;
    }

    private static void AddTo(IServiceCollection services, EndpointConfiguration endpoint)
    {
        // Without a log provider, NServiceBus writes to the console and to a file. It also logs its licence at every start.
        services.AddLogging(logging => logging.AddProvider(NullLoggerProvider.Instance).AddFilter("NServiceBus.LicenseManager", LogLevel.None));
        services.AddNServiceBusEndpoint(endpoint);
    }

    // Not private, because code that NServiceBus generates refers to it.
    internal sealed class BuildWidgetHandler(HandleMessage handle, DbDataSource data, HandlerSettings settings) : IHandleMessages<BuildWidget>
    {
        public async Task Handle(BuildWidget message, IMessageHandlerContext context)
        {
            await using var adapter = new Adapter(context, data, settings);
            await handle(message, adapter, context.CancellationToken);
        }
    }

    // Not private, because the handler's constructor takes it.
    internal sealed record HandlerSettings(TransactionMode Mode, NServiceBusLentConnection? Lent);

    private sealed class Adapter(IMessageHandlerContext context, DbDataSource data, HandlerSettings settings) : IMessageContext, IAsyncDisposable
    {
        private DbConnection? own;

        // NServiceBus holds a handler's sends back until the handler has returned, even without transactions.
        private bool SendsAtOnce => settings.Mode == TransactionMode.TransactionsOff;

        public async ValueTask<DbConnection> GetAsync(CancellationToken cancellationToken) => settings.Lent is { } lent
            ? await lent.Connection(context)
            : own ??= await data.OpenConnectionAsync(cancellationToken);

        public async ValueTask<DbTransaction?> GetTransactionAsync(CancellationToken cancellationToken) =>
            settings.Lent is { } lent ? await lent.Transaction(context) : null;

        public Task SendAsync(string queue, WidgetBuilt message, CancellationToken cancellationToken)
        {
            var options = new SendOptions();
            options.SetDestination(queue);
            options.SetMessageId(message.MessageId.ToString());
            if (SendsAtOnce)
                options.RequireImmediateDispatch();

            return context.Send(message, options);
        }

        public Task ReplyAsync(WidgetBuilt message, CancellationToken cancellationToken)
        {
            var options = new ReplyOptions();
            options.SetMessageId(message.MessageId.ToString());
            if (SendsAtOnce)
                options.RequireImmediateDispatch();

            return context.Reply(message, options);
        }

        public Task PublishAsync(WidgetReady message, CancellationToken cancellationToken)
        {
            var options = new PublishOptions();
            options.SetMessageId(message.MessageId.ToString());
            if (SendsAtOnce)
                options.RequireImmediateDispatch();

            return context.Publish(message, options);
        }

        public ValueTask DisposeAsync() => own?.DisposeAsync() ?? ValueTask.CompletedTask;
    }
}
