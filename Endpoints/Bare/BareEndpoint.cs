using Kit.Modes;
using Microsoft.Extensions.DependencyInjection;
using Npgsql;

namespace Kit.Endpoints.Bare;

/// <summary>
/// Configures one endpoint: a queue, a mode and the handlers of its messages, on nothing but the driver.
/// </summary>
public sealed class BareEndpoint
{
    private readonly IServiceCollection services;
    private readonly Dictionary<string, IHandlerInvoker> invokers = new(StringComparer.Ordinal);
    private NpgsqlConnectionStringBuilder? queues;
    private NpgsqlConnectionStringBuilder? data;

    internal BareEndpoint(string name, IServiceCollection services)
    {
        ArgumentException.ThrowIfNullOrWhiteSpace(name);
        Name = name;
        this.services = services;
    }

    /// <summary>The endpoint's name and its queue's.</summary>
    public string Name { get; }

    internal TransactionMode Mode { get; private set; } = TransactionMode.DtcOff;

    internal int Concurrency { get; private set; } = 2;

    internal IReadOnlyDictionary<string, IHandlerInvoker> Invokers => invokers;

    internal NpgsqlConnectionStringBuilder Queues => queues ?? throw new InvalidOperationException($"Endpoint '{Name}' has no transport: call UsePostgreSql.");

    internal NpgsqlConnectionStringBuilder Data => data ?? Queues;

    /// <summary>Queues in PostgreSQL.</summary>
    /// <param name="queueConnectionString">The database that holds the queue and its error table.</param>
    /// <param name="dataConnectionString">The database that handlers open; the queues' own when not given.</param>
    /// <exception cref="ArgumentException">A connection string cannot be read.</exception>
    public BareEndpoint UsePostgreSql(string queueConnectionString, string? dataConnectionString = null)
    {
        queues = new NpgsqlConnectionStringBuilder(queueConnectionString);
        data = new NpgsqlConnectionStringBuilder(dataConnectionString ?? queueConnectionString);
        return this;
    }

    /// <summary>How transactional the handlers are. <see cref="TransactionMode.DtcOff"/> when not called.</summary>
    public BareEndpoint UseMode(TransactionMode mode)
    {
        Mode = mode;
        return this;
    }

    /// <summary>How many messages are handled at the same time. 2 when not called.</summary>
    /// <exception cref="ArgumentOutOfRangeException">Less than 1.</exception>
    public BareEndpoint LimitConcurrency(int messages)
    {
        ArgumentOutOfRangeException.ThrowIfLessThan(messages, 1);
        Concurrency = messages;
        return this;
    }

    /// <summary>Registers the handler of one type of message.</summary>
    /// <exception cref="InvalidOperationException">The type has a handler already.</exception>
    public BareEndpoint Handle<TMessage, THandler>()
        where TMessage : notnull
        where THandler : class, IMessageHandler<TMessage>
    {
        if (!invokers.TryAdd(OutgoingMessage.TypeName(typeof(TMessage)), new HandlerInvoker<TMessage, THandler>()))
            throw new InvalidOperationException($"Endpoint '{Name}' already has a handler for {typeof(TMessage).Name}.");

        services.AddTransient<THandler>();
        return this;
    }
}
