using System.Text.Json;
using System.Transactions;
using Kit.Endpoints.Bare.Health;
using Kit.Modes;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.DependencyInjection.Extensions;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;

namespace Kit.Endpoints.Bare;

/// <summary>
/// Configures one endpoint on the driver alone: its queue, its mode and the handlers of its messages.
/// </summary>
public sealed class BareEndpointBuilder
{
    private readonly IServiceCollection? services;
    private readonly Dictionary<string, IHandlerInvoker> invokers = new(StringComparer.Ordinal);
    private readonly List<Participant> participants = [];
    private Func<MessagePipeline, ILogger, IHostedService>? transport;
    private EndpointTelemetry? telemetry;
    private TransactionMode? mode;

    /// <param name="name">The endpoint's name.</param>
    /// <param name="services">Where handlers are registered; <see langword="null"/> if the container is already built.</param>
    internal BareEndpointBuilder(string name, IServiceCollection? services)
    {
        ArgumentException.ThrowIfNullOrWhiteSpace(name);
        Name = name;
        Status = new EndpointStatus(name);
        Running = new RunningHandlers(this);
        this.services = services;
    }

    /// <summary>The name of the endpoint and of its queue.</summary>
    public string Name { get; }

    /// <summary>What the endpoint reports about itself while it runs.</summary>
    internal EndpointStatus Status { get; }

    internal RunningHandlers Running { get; }

    internal TransactionMode Mode =>
        mode ?? throw new InvalidOperationException($"Endpoint '{Name}' has no transaction mode: call UseTransactionMode. " +
            $"Modes: {string.Join(", ", TransactionMode.All)}.");

    internal int Concurrency { get; private set; } = Math.Max(2, Environment.ProcessorCount);

    internal JsonSerializerOptions? Json { get; private set; }

    internal TransactionSettings Transactions => new(Mode, TransactionTimeout);

    internal TimeSpan TransactionTimeout { get; private set; } = Modes.TransactionTimeout.Default;

    internal TimeSpan FirstPause { get; private set; } = TimeSpan.FromSeconds(1);

    internal static TimeSpan DefaultRecoveryInterval => TimeSpan.FromSeconds(5);

    /// <summary>In <c>full-dtc</c>, how often recovery looks for branches that were left prepared. It ignores younger ones.</summary>
    internal TimeSpan RecoveryInterval { get; set; } = DefaultRecoveryInterval;

    internal IReadOnlyList<TimeSpan> RetryDelays { get; private set; } = [];

    /// <summary>The longest time for which the endpoint puts a message back. One that is due later was put back before a clock was set back.</summary>
    internal TimeSpan LongestDelay => RetryDelays.Append(BackOff.Longest(FirstPause)).Max();

    /// <summary>How long handlers have to end, once the host no longer waits and has cancelled their token.</summary>
    internal TimeSpan StopPatience { get; set; } = TimeSpan.FromSeconds(5);

    /// <summary>Which commits wait for the log. A transport that has no such choice refuses all but <see cref="LogFlush.Every"/>.</summary>
    internal LogFlush Flush { get; private set; } = LogFlush.Every;

    /// <summary>How many messages are received at once. A transport that receives one at a time refuses all but 1.</summary>
    internal int BatchSize { get; private set; } = 1;

    /// <summary>Whether a commit also receives. A transport without it refuses.</summary>
    internal bool ReceivesAhead { get; private set; }

    /// <summary>
    /// Asks whether the handlers' database has turned read-only. Until an endpoint sets it, each transaction that is read-only is its handler's doing.
    /// </summary>
    internal Func<CancellationToken, Task<bool>> IsReadOnly { get; set => field = new SharedQuestion(value).AskAsync; } = _ => Task.FromResult(false);

    /// <summary>Whether <c>full-dtc</c> on two PostgreSQL servers starts although one of them has standbys that it does not wait for.</summary>
    internal bool AcceptsAsynchronousStandbys { get; set; }

    /// <summary>Further databases of the handlers, in the order in which they were added. A transport without them refuses.</summary>
    internal IReadOnlyList<Participant> Participants => participants;

    internal OutboxSchedule OutboxSchedule { get; set; } = OutboxSchedule.Default;

    /// <summary>How long <c>outbox</c> keeps the ids of handled messages; <see langword="null"/>: for ever.</summary>
    internal TimeSpan? HandledIdsAreKept { get; private set; }

    internal IReadOnlyDictionary<string, IHandlerInvoker> Invokers => invokers;

    internal Func<MessagePipeline, ILogger, IHostedService> Transport => transport ?? throw HasNoTransport;

    internal EndpointTelemetry Telemetry => telemetry ?? throw HasNoTransport;

    private InvalidOperationException HasNoTransport =>
        new($"Endpoint '{Name}' has no transport: call UsePostgreSql, UseSqlServer or UseRabbitMq.");

    /// <summary>Sets how transactional the handlers are. There is no default: an endpoint without a mode does not start.</summary>
    public BareEndpointBuilder UseTransactionMode(TransactionMode mode)
    {
        ArgumentNullException.ThrowIfNull(mode);
        this.mode = mode;
        return this;
    }

    /// <summary>Limits how many messages are handled at the same time. The default is the number of processors, but at least 2.</summary>
    /// <exception cref="ArgumentOutOfRangeException">Less than 1.</exception>
    public BareEndpointBuilder LimitConcurrency(int messages)
    {
        ArgumentOutOfRangeException.ThrowIfLessThan(messages, 1);
        Concurrency = messages;
        return this;
    }

    /// <summary>
    /// Sets how long the ambient transaction around a handler may last, in the modes that have one: <c>full-dtc</c> (in each variant),
    /// <c>dtc-off</c> and <c>npgsql-scope</c>. After that time the attempt fails and leaves nothing behind, except in <c>npgsql-scope</c>,
    /// where the handler's later writes stay. The default is <see cref="TransactionManager.DefaultTimeout"/> (1 minute).
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
    /// Sets how long a worker pauses when a server refuses it or is unreachable, and how long a message waits for its next attempt after its
    /// session was lost. The pause doubles each time, up to eight times the first. The default is 1 second.
    /// </summary>
    /// <exception cref="ArgumentOutOfRangeException">Zero or less.</exception>
    public BareEndpointBuilder PauseAfterOutage(TimeSpan first)
    {
        ArgumentOutOfRangeException.ThrowIfLessThanOrEqual(first, TimeSpan.Zero);
        FirstPause = first;
        return this;
    }

    /// <summary>
    /// Sets how long a message whose handler failed waits at least for its next attempt: the first delay before the second attempt, the second before the
    /// third, and the last before all later ones. The number of attempts is the mode's. By default the next attempt follows at once. Other messages are
    /// handled meanwhile, so the message loses its place. On RabbitMQ a delay is at most 1 minute, and one of the workers waits with the message.
    /// In <c>npgsql-scope</c>, in <c>full-dtc</c> on SQL Server, and if a send or the commit failed, another worker can begin the attempt without the delay.
    /// The endpoint refuses to start in a mode without retries (<c>transactions-off</c>).
    /// </summary>
    /// <param name="delays">None, or each of them at least zero and at most 1 day.</param>
    /// <exception cref="ArgumentOutOfRangeException">A delay is negative, or longer than a day.</exception>
    public BareEndpointBuilder DelayRetries(params TimeSpan[] delays)
    {
        ArgumentNullException.ThrowIfNull(delays);
        foreach (var delay in delays)
        {
            ArgumentOutOfRangeException.ThrowIfLessThan(delay, TimeSpan.Zero, nameof(delays));
            ArgumentOutOfRangeException.ThrowIfGreaterThan(delay, TimeSpan.FromDays(1), nameof(delays));
        }

        RetryDelays = [.. delays];
        return this;
    }

    /// <summary>
    /// Sets how long <c>outbox</c> keeps the id of a handled message, by which it recognizes a message that comes again. By default it keeps all ids, and its
    /// inbox grows. With a time, the endpoint deletes older ids every few seconds, except those of messages whose sends still wait. A message that is
    /// redelivered later than that is handled a second time, so set more than the longest outage, the longest stay in an error queue and the longest retry of
    /// a sender. The endpoint refuses to start in another mode, or if an inbox that it finds has no index on <c>handled_at</c>.
    /// </summary>
    /// <exception cref="ArgumentOutOfRangeException">Zero or less, or more than 36,500 days.</exception>
    public BareEndpointBuilder KeepHandledIdsFor(TimeSpan retention)
    {
        ArgumentOutOfRangeException.ThrowIfLessThanOrEqual(retention, TimeSpan.Zero);
        ArgumentOutOfRangeException.ThrowIfGreaterThan(retention, TimeSpan.FromDays(36_500));
        HandledIdsAreKept = retention;
        return this;
    }

    /// <summary>
    /// Sets which commits of a message wait until the server's log is on disk, with queue and data in PostgreSQL. The default is all of them. With
    /// fewer, the mode keeps its promise, but what others saw just before a crash of the server can vanish: see <see cref="LogFlush"/>.
    /// The endpoint refuses to start if the setting would weaken its mode.
    /// </summary>
    public BareEndpointBuilder FlushLog(LogFlush flush)
    {
        ArgumentNullException.ThrowIfNull(flush);
        Flush = flush;
        return this;
    }

    /// <summary>
    /// Sets how many messages a worker receives at once from a queue in PostgreSQL. The worker calls the handler for each in turn and commits them
    /// together. The default is 1. After a crash, up to that many messages of each worker are handled again; in <c>transactions-off</c> they are lost.
    /// The endpoint refuses to start in a mode without batches, or with fewer flushes.
    /// </summary>
    /// <exception cref="ArgumentOutOfRangeException">Less than 1 or more than 1,000.</exception>
    public BareEndpointBuilder ReceiveInBatches(int messages)
    {
        ArgumentOutOfRangeException.ThrowIfLessThan(messages, 1);
        ArgumentOutOfRangeException.ThrowIfGreaterThan(messages, 1_000);
        BatchSize = messages;
        return this;
    }

    /// <summary>
    /// Lets a worker receive the next message from a queue in PostgreSQL in the round trip that commits the last one. Nothing else changes: a worker has
    /// one message at a time, and if it stops or dies, the message is back in the queue without an attempt. The default is a round trip of its own.
    /// The endpoint refuses to start in a mode without it, in batches, or with fewer flushes.
    /// </summary>
    public BareEndpointBuilder ReceiveAhead(bool ahead = true)
    {
        ReceivesAhead = ahead;
        return this;
    }

    /// <summary>Sets how received messages are read and sent messages are written. The default is <see cref="JsonSerializerOptions.Default"/>.</summary>
    public BareEndpointBuilder UseJson(JsonSerializerOptions options)
    {
        ArgumentNullException.ThrowIfNull(options);
        Json = options;
        return this;
    }

    /// <summary>
    /// Registers the handler for one message type. It is resolved from the services; if it is not registered there, each attempt creates a new
    /// one.
    /// </summary>
    /// <exception cref="InvalidOperationException">The type already has a handler.</exception>
    public BareEndpointBuilder Handle<TMessage, THandler>()
        where TMessage : notnull
        where THandler : class, IMessageHandler<TMessage>
    {
        if (!invokers.TryAdd(OutgoingMessage.TypeName(typeof(TMessage)), new HandlerInvoker<TMessage, THandler>()))
            throw new InvalidOperationException($"Endpoint '{Name}' already has a handler for {typeof(TMessage).Name}.");

        services?.TryAddTransient<THandler>();
        return this;
    }

    /// <exception cref="InvalidOperationException">There is one with its name.</exception>
    internal void Add(Participant participant)
    {
        if (participants.Any(other => other.Name == participant.Name))
            throw new InvalidOperationException($"Endpoint '{Name}' already has a {participant.Title}.");

        participants.Add(participant);
    }

    /// <summary>Called by a transport's own <c>Use…</c> method. Sets how the service that runs this endpoint is created.</summary>
    /// <param name="system">OpenTelemetry's name for the system that holds the queues.</param>
    /// <param name="create">Creates the service.</param>
    internal BareEndpointBuilder UseTransport(string system, Func<MessagePipeline, ILogger, IHostedService> create)
    {
        transport = create;
        telemetry = new EndpointTelemetry(system, Name);
        return this;
    }
}
