using System.Text.Json;
using System.Transactions;
using Kit.Endpoints.Bare.Health;
using Kit.Endpoints.Bare.Outbox;
using Kit.Modes;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.DependencyInjection.Extensions;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;

namespace Kit.Endpoints.Bare;

/// <summary>
/// Configures one endpoint: a queue, a mode and the handlers of its messages, on nothing but the driver.
/// </summary>
public sealed class BareEndpointBuilder
{
    private readonly IServiceCollection? services;
    private readonly Dictionary<string, IHandlerInvoker> invokers = new(StringComparer.Ordinal);
    private Func<MessagePipeline, ILogger, IHostedService>? transport;
    private EndpointTelemetry? telemetry;
    private TransactionMode? mode;

    /// <param name="name">The endpoint's.</param>
    /// <param name="services">Where handlers are registered; <see langword="null"/> when it is closed already.</param>
    internal BareEndpointBuilder(string name, IServiceCollection? services)
    {
        ArgumentException.ThrowIfNullOrWhiteSpace(name);
        Name = name;
        Status = new EndpointStatus(name);
        this.services = services;
    }

    /// <summary>The endpoint's name and its queue's.</summary>
    public string Name { get; }

    /// <summary>What the endpoint tells of itself while it runs.</summary>
    internal EndpointStatus Status { get; }

    internal TransactionMode Mode =>
        mode ?? throw new InvalidOperationException($"Endpoint '{Name}' has no transaction mode: call UseTransactionMode. " +
            $"A mode is one of {string.Join(", ", TransactionMode.All)}.");

    internal int Concurrency { get; private set; } = Math.Max(2, Environment.ProcessorCount);

    internal JsonSerializerOptions? Json { get; private set; }

    internal TransactionSettings Transactions => new(Mode, TransactionTimeout);

    internal TimeSpan TransactionTimeout { get; private set; } = Modes.TransactionTimeout.Default;

    internal TimeSpan FirstPause { get; private set; } = TimeSpan.FromSeconds(1);

    /// <summary>How often recovery looks for branches that were left prepared, in <c>full-dtc</c>; younger ones it leaves alone.</summary>
    internal TimeSpan RecoveryInterval { get; set; } = TimeSpan.FromSeconds(5);

    /// <summary>Which commits wait for the log. A transport that has no such choice refuses all but <see cref="LogFlush.Every"/>.</summary>
    internal LogFlush Flush { get; private set; } = LogFlush.Every;

    internal OutboxSchedule OutboxSchedule { get; set; } = OutboxSchedule.Default;

    internal IReadOnlyDictionary<string, IHandlerInvoker> Invokers => invokers;

    internal Func<MessagePipeline, ILogger, IHostedService> Transport => transport ?? throw HasNoTransport;

    internal EndpointTelemetry Telemetry => telemetry ?? throw HasNoTransport;

    private InvalidOperationException HasNoTransport =>
        new($"Endpoint '{Name}' has no transport: call UsePostgreSql, UseSqlServer or UseRabbitMq.");

    /// <summary>How transactional the handlers are. Nothing is chosen for you: an endpoint without a mode is refused.</summary>
    public BareEndpointBuilder UseTransactionMode(TransactionMode mode)
    {
        ArgumentNullException.ThrowIfNull(mode);
        this.mode = mode;
        return this;
    }

    /// <summary>How many messages are handled at the same time: as many as there are processors, and at least 2, when not called.</summary>
    /// <exception cref="ArgumentOutOfRangeException">Less than 1.</exception>
    public BareEndpointBuilder LimitConcurrency(int messages)
    {
        ArgumentOutOfRangeException.ThrowIfLessThan(messages, 1);
        Concurrency = messages;
        return this;
    }

    /// <summary>
    /// How long the ambient transaction around a handler may last, in the modes that have one: <c>full-dtc</c> (in each variant),
    /// <c>dtc-off</c> and <c>npgsql-scope</c>. When it is over, the attempt fails and leaves nothing; in <c>npgsql-scope</c> what the handler
    /// writes after it stays. <see cref="TransactionManager.DefaultTimeout"/> (1 minute) when not called.
    /// </summary>
    /// <exception cref="ArgumentOutOfRangeException">
    /// Zero or less, or more than <see cref="TransactionManager.MaximumTimeout"/>, to which .NET would shorten it silently.
    /// </exception>
    public BareEndpointBuilder LimitTransactions(TimeSpan timeout)
    {
        TransactionTimeout = Modes.TransactionTimeout.Require(timeout);
        return this;
    }

    /// <summary>
    /// How long a worker pauses when a server refuses or is away, and how long a message waits for its next attempt when its session was lost.
    /// Doubled each time, up to eight times as long. 1 second when not called.
    /// </summary>
    /// <exception cref="ArgumentOutOfRangeException">Zero or less.</exception>
    public BareEndpointBuilder PauseAfterOutage(TimeSpan first)
    {
        ArgumentOutOfRangeException.ThrowIfLessThanOrEqual(first, TimeSpan.Zero);
        FirstPause = first;
        return this;
    }

    /// <summary>
    /// Which commits of a message wait until the server's log is on disk, with queue and data in PostgreSQL: all of them when not called. With fewer
    /// the mode's promise is the same, and what was seen in the moments before a crash of the server can vanish: see <see cref="LogFlush"/>.
    /// The endpoint refuses to start where the setting would weaken its mode.
    /// </summary>
    public BareEndpointBuilder FlushLog(LogFlush flush)
    {
        ArgumentNullException.ThrowIfNull(flush);
        Flush = flush;
        return this;
    }

    /// <summary>How messages are read and, when handlers send them, written: as <see cref="JsonSerializerOptions.Default"/> says when not called.</summary>
    public BareEndpointBuilder UseJson(JsonSerializerOptions options)
    {
        ArgumentNullException.ThrowIfNull(options);
        Json = options;
        return this;
    }

    /// <summary>
    /// Registers the handler of one type of message. It is resolved from the services; where nobody registered it, a new one is made for each
    /// attempt.
    /// </summary>
    /// <exception cref="InvalidOperationException">The type has a handler already.</exception>
    public BareEndpointBuilder Handle<TMessage, THandler>()
        where TMessage : notnull
        where THandler : class, IMessageHandler<TMessage>
    {
        if (!invokers.TryAdd(OutgoingMessage.TypeName(typeof(TMessage)), new HandlerInvoker<TMessage, THandler>()))
            throw new InvalidOperationException($"Endpoint '{Name}' already has a handler for {typeof(TMessage).Name}.");

        services?.TryAddTransient<THandler>();
        return this;
    }

    /// <summary>What a transport says whose commits are not in the log of one PostgreSQL server.</summary>
    /// <exception cref="NotSupportedException">The endpoint is to leave out flushes.</exception>
    internal void RequireEveryFlush(Support support)
    {
        if (Flush != LogFlush.Every)
            throw new NotSupportedException($"Endpoint '{Name}' cannot leave out flushes of the log (FlushLog, '{Flush}'): {support.Because}.");
    }

    /// <summary>What a transport's own <c>Use…</c> calls: how to make the service that runs this endpoint.</summary>
    /// <param name="system">What OpenTelemetry calls the system that holds the queues.</param>
    /// <param name="create">Makes the service.</param>
    internal BareEndpointBuilder UseTransport(string system, Func<MessagePipeline, ILogger, IHostedService> create)
    {
        transport = create;
        telemetry = new EndpointTelemetry(system, Name);
        return this;
    }
}
