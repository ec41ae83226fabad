using System.Transactions;
using Kit.Modes;
using NServiceBus;
using NServiceBus.Transport;

namespace Kit.Endpoints.NServiceBus;

/// <summary>
/// Endpoints as they were measured. Each method sets the transport and how transactional the handlers are, the retries (those of the mode at once, none
/// delayed), the error queue, concurrency, JSON, installers; it scans no assembly and writes no file of diagnostics. Handlers are added with
/// <c>AddHandler</c>, the endpoint with <c>AddNServiceBusEndpoint</c>. What is set afterwards replaces what is set here. In <c>shared</c> each
/// handler works in the <see cref="ReceiveTransaction"/>, and a message fails whose handler did not take it.
/// </summary>
public static class TransactionModeExtensions
{
    public const int DefaultConcurrency = 2;

    public const string DefaultErrorQueue = "error";

    /// <summary>As many as the kit's other endpoints on RabbitMQ; the transport's own default is 3 for each handler.</summary>
    public const ushort DefaultPrefetch = 32;

    /// <summary>
    /// Queues in SQL Server. In <c>full-dtc</c> handlers that connect with the same text share the receive's local transaction. Another text,
    /// as in <c>full-dtc-promoted</c>, promotes it to MSDTC: on Windows; elsewhere the endpoint starts, and each message fails. Give handlers'
    /// connections <c>Transaction Binding=Explicit Unbind</c>, and this one with them: by default what is written after a timeout of the scope stays.
    /// </summary>
    /// <param name="endpoint">The endpoint.</param>
    /// <param name="connectionString">The database that holds the queues.</param>
    /// <param name="mode">How transactional the handlers are.</param>
    /// <param name="concurrency">How many messages are handled at the same time.</param>
    /// <param name="errorQueue">Where messages go that were given up.</param>
    /// <param name="transactionTimeout">
    /// How long the transaction around a handler may last, in the modes that have one: 1 minute when not given. In <c>dtc-off</c> it is judged when
    /// the handler has returned (<see cref="HandlerDeadline"/>): a late handler's work is rolled back whole, and its message is retried.
    /// </param>
    /// <exception cref="ArgumentException">An argument is empty.</exception>
    /// <exception cref="ArgumentOutOfRangeException">
    /// A concurrency below 1, or a time-out that .NET would shorten: see <see cref="TransactionTimeout.Require"/>.
    /// </exception>
    /// <exception cref="NotSupportedException">The transport does not offer the mode.</exception>
    public static RoutingSettings<SqlServerTransport> UseSqlServer(
        this EndpointConfiguration endpoint,
        string connectionString,
        TransactionMode mode,
        int concurrency = DefaultConcurrency,
        string errorQueue = DefaultErrorQueue,
        TimeSpan? transactionTimeout = null)
    {
        var settings = new TransactionSettings(mode, transactionTimeout ?? TransactionTimeout.Default);
        var transport = new SqlServerTransport(connectionString);
        transport.TransactionScope.IsolationLevel = settings.ScopeIsolation;
        transport.TransactionScope.Timeout = settings.Timeout;
        return Use(endpoint, transport, mode, concurrency, errorQueue, settings);
    }

    /// <summary>Queues in PostgreSQL.</summary>
    /// <param name="endpoint">The endpoint. Its name is a table's: 55 bytes at most, less the 8 of <c>.Delayed</c>.</param>
    /// <param name="connectionString">The database that holds the queues.</param>
    /// <param name="mode">How transactional the handlers are; the transport offers no <c>full-dtc</c>.</param>
    /// <param name="concurrency">How many messages are handled at the same time.</param>
    /// <param name="errorQueue">
    /// Where messages go that were given up. A name with a point in it needs double quotes around it: before a point is the schema.
    /// </param>
    /// <inheritdoc cref="UseSqlServer" path="/param[@name='transactionTimeout']"/>
    /// <inheritdoc cref="UseSqlServer" path="/exception"/>
    public static RoutingSettings<PostgreSqlTransport> UsePostgreSql(
        this EndpointConfiguration endpoint,
        string connectionString,
        TransactionMode mode,
        int concurrency = DefaultConcurrency,
        string errorQueue = DefaultErrorQueue,
        TimeSpan? transactionTimeout = null)
    {
        var transport = new PostgreSqlTransport(connectionString);
        var settings = new TransactionSettings(mode, transactionTimeout ?? TransactionTimeout.Default);
        transport.TransactionScope.IsolationLevel = settings.ScopeIsolation;
        return Use(endpoint, transport, mode, concurrency, errorQueue, settings);
    }

    /// <summary>
    /// Queues in RabbitMQ, in the conventional topology and without the queues for delays. The transport asks the management plugin for the broker's
    /// version and the queue's policies when it starts; for a new queue it waits some seconds for the answer.
    /// </summary>
    /// <param name="endpoint">The endpoint.</param>
    /// <param name="connectionString">An AMQP URI, or <c>host=…;username=…;password=…</c>.</param>
    /// <param name="mode"><c>dtc-off</c> or <c>scope-off</c>; the transport offers no other.</param>
    /// <param name="queueType">How the broker keeps the endpoint's queues.</param>
    /// <param name="concurrency">How many messages are handled at the same time.</param>
    /// <param name="errorQueue">Where messages go that were given up.</param>
    /// <param name="prefetch">How many messages the broker pushes ahead of their acknowledgement.</param>
    /// <param name="management">Where the management plugin is; port 15672 of the broker's machine when not given.</param>
    /// <inheritdoc cref="UseSqlServer" path="/param[@name='transactionTimeout']"/>
    /// <exception cref="ArgumentOutOfRangeException">A concurrency or a prefetch below 1, or a time-out that .NET would shorten.</exception>
    /// <inheritdoc cref="UseSqlServer" path="/exception[not(contains(@cref, 'OutOfRange'))]"/>
    public static RoutingSettings<RabbitMQTransport> UseRabbitMq(
        this EndpointConfiguration endpoint,
        string connectionString,
        TransactionMode mode,
        QueueType queueType,
        int concurrency = DefaultConcurrency,
        string errorQueue = DefaultErrorQueue,
        ushort prefetch = DefaultPrefetch,
        ManagementApiConfiguration? management = null,
        TimeSpan? transactionTimeout = null)
    {
        ArgumentException.ThrowIfNullOrWhiteSpace(connectionString);
        ArgumentOutOfRangeException.ThrowIfZero(prefetch);
        var transport = new RabbitMQTransport(RoutingTopology.Conventional(queueType), connectionString, enableDelayedDelivery: false)
        {
            PrefetchCountCalculation = _ => prefetch,
            ManagementApiConfiguration = management,
        };
        return Use(endpoint, transport, mode, concurrency, errorQueue, new TransactionSettings(mode, transactionTimeout ?? TransactionTimeout.Default));
    }

    /// <summary>Queues in files, to try and to learn with: nothing is flushed to the disk, and one machine alone can use it.</summary>
    /// <param name="endpoint">The endpoint.</param>
    /// <param name="directory">
    /// Where the files are. Messages that are sent move there from the folder for temporary files: on one file system that is one step.
    /// </param>
    /// <param name="mode">How transactional the handlers are; the transport offers no <c>full-dtc</c>.</param>
    /// <param name="concurrency">How many messages are handled at the same time.</param>
    /// <param name="errorQueue">Where messages go that were given up.</param>
    /// <inheritdoc cref="UseSqlServer" path="/param[@name='transactionTimeout']"/>
    /// <inheritdoc cref="UseSqlServer" path="/exception"/>
    public static RoutingSettings<LearningTransport> UseLearning(
        this EndpointConfiguration endpoint,
        string directory,
        TransactionMode mode,
        int concurrency = DefaultConcurrency,
        string errorQueue = DefaultErrorQueue,
        TimeSpan? transactionTimeout = null)
    {
        ArgumentException.ThrowIfNullOrWhiteSpace(directory);
        var transport = new LearningTransport { StorageDirectory = directory };
        return Use(endpoint, transport, mode, concurrency, errorQueue, new TransactionSettings(mode, transactionTimeout ?? TransactionTimeout.Default));
    }

    private static RoutingSettings<TTransport> Use<TTransport>(
        EndpointConfiguration endpoint, TTransport transport, TransactionMode mode, int concurrency, string errorQueue, TransactionSettings settings)
        where TTransport : TransportDefinition
    {
        ArgumentOutOfRangeException.ThrowIfLessThan(concurrency, 1);
        ArgumentException.ThrowIfNullOrWhiteSpace(errorQueue);
        transport.TransportTransactionMode = NServiceBusSupport.ModeOf(mode, transport);
        var routing = endpoint.UseTransport(transport);
        if (mode == TransactionMode.DtcOff)
        {
            endpoint.UnitOfWork().WrapHandlersInATransactionScope(TransactionManager.MaximumTimeout, settings.ScopeIsolation);
            endpoint.Pipeline.Register(new HandlerDeadline.Step(settings.Timeout));
        }

        if (mode == TransactionMode.Shared)
            endpoint.Pipeline.Register(new ReceiveTransaction.IsRequired(), "Fails a message whose handler worked without the receive's transaction.");

        // Without a transaction the transport refuses to start with any retry, and its defaults are 5 at once and 3 delayed.
        endpoint.Recoverability()
            .Immediate(retries => retries.NumberOfRetries(mode.ImmediateRetries))
            .Delayed(retries => retries.NumberOfRetries(0));
        endpoint.SendFailedMessagesTo(errorQueue);
        endpoint.LimitMessageProcessingConcurrencyTo(concurrency);
        endpoint.UseSerialization<SystemJsonSerializer>();
        endpoint.AssemblyScanner().Disable = true;
        endpoint.EnableInstallers();
        endpoint.CustomDiagnosticsWriter((_, _) => Task.CompletedTask);
        return routing;
    }
}
