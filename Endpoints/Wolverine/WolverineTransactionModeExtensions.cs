using Kit.Endpoints.Wolverine;
using Kit.Modes;
using Microsoft.Extensions.DependencyInjection;
using Wolverine.Configuration;
using Wolverine.EntityFrameworkCore;
using Wolverine.ErrorHandling;
using Wolverine.Postgresql;
using Wolverine.Postgresql.Transport;
using Wolverine.RabbitMQ;
using Wolverine.RabbitMQ.Internal;

// In Wolverine's namespace, so that the method is found where endpoints are configured.
#pragma warning disable IDE0130 // Namespace does not match folder structure
namespace Wolverine;
#pragma warning restore IDE0130

/// <summary>Sets the transport and the transaction mode of an endpoint on PostgreSQL or RabbitMQ.</summary>
public static class WolverineTransactionModeExtensions
{
    /// <summary>
    /// Sets the transport, the endpoint's queue with its durable inbox, the mode's retries, and the transaction around handlers. Everything else is left to
    /// you: durability mode, parallelism, polling, routing. Call it once, and set no other transport on PostgreSQL. A rule of yours for failures acts only if
    /// you set it before, or on a handler.
    /// </summary>
    /// <remarks>
    /// <para>
    /// In both modes the receive moves messages from the queue to the inbox, in a transaction of its own, before their handlers run.
    /// </para>
    /// <para>A message of a type without a handler goes to the dead letters.</para>
    /// <para>
    /// Differently from Wolverine's default, what is sent to a handler of the same application is stored, too. Several applications on one database need a
    /// schema each: in <c>Solo</c> one that starts frees what the others are handling.
    /// </para>
    /// <para>
    /// In <c>scope-off</c> a handler opens connections of its own, and Wolverine marks the message as handled afterwards. The start fails if a listener is
    /// <c>BufferedInMemory</c>.
    /// </para>
    /// <para>
    /// In <c>outbox</c> a handler takes a <c>DbContext</c> that is registered with <c>AddDbContextWithWolverineIntegration</c>, and works in its transaction:
    /// with Entity Framework Core, or on <c>Database.GetDbConnection()</c>. Wolverine commits the rows, the mark in the inbox and the sends together, also
    /// sends on other transports. A handler that this one calls with <c>InvokeAsync</c> commits alone.
    /// </para>
    /// <para>
    /// In <c>outbox</c> the start fails if a handler, also one of several, takes no such context or two of them; if the context's database is not that of the
    /// queues; if an endpoint is not <c>Durable</c>; or if Wolverine begins no transaction around the handler: <c>TransactionMiddlewareMode.Lightweight</c>,
    /// or code that <c>codegen write</c> wrote for another mode. The last and the database are not checked for contexts of several tenants.
    /// </para>
    /// </remarks>
    /// <param name="wolverine">The endpoint's options.</param>
    /// <param name="mode"><c>scope-off</c> or <c>outbox</c>.</param>
    /// <param name="connectionString">The database with the queues, the inbox and the outbox; in <c>outbox</c> also that of the handlers' rows.</param>
    /// <param name="queue">The endpoint's queue.</param>
    /// <param name="schema">The schema of inbox and outbox.</param>
    /// <param name="transportSchema">The schema of the queues.</param>
    /// <param name="transport">Sets what else the transport has, such as <c>EnableQueueNotifications</c>.</param>
    /// <returns>The configuration of the queue's listener, for parallelism and polling.</returns>
    /// <exception cref="InvalidOperationException">It has been called before.</exception>
    /// <exception cref="NotSupportedException">Wolverine does not support the mode. The message says why.</exception>
    public static PostgresqlListenerConfiguration UseTransactionMode(
        this WolverineOptions wolverine, TransactionMode mode, string connectionString, string queue, string schema = "wolverine",
        string transportSchema = "wolverine_queues", Action<PostgresqlPersistenceExpression>? transport = null)
    {
        ArgumentNullException.ThrowIfNull(wolverine);
        ArgumentNullException.ThrowIfNull(mode);
        ArgumentNullException.ThrowIfNull(queue);
        if (WolverineSupport.Of(mode).Because is { } reason)
            throw new NotSupportedException($"Wolverine cannot run in {mode}: {reason}.");

        RequireFirstCall(wolverine);
        var queues = wolverine.UsePostgresqlPersistenceAndTransport(connectionString, schema, transportSchema);
        transport?.Invoke(queues);
        wolverine.Policies.UseDurableLocalQueues();
        SetAttempts(wolverine, mode);
        if (mode == TransactionMode.Outbox)
            SetTransaction(wolverine, connectionString);
        else
            wolverine.Policies.Add(new ListenersAreNotInMemory<PostgresqlQueue>());

        return wolverine.ListenToPostgresqlQueue(queue).UseDurableInbox();
    }

    /// <summary>
    /// Sets the transport, the endpoint's queue, its error queue, and the mode's retries. Everything else is left to you: durability mode, number of listeners,
    /// prefetch, routing, and whether Wolverine creates queues and exchanges (<c>ConfigureRabbitMq().AutoProvision()</c>). Call it once, and set no other
    /// transport on RabbitMQ. A rule of yours for failures acts only if you set it before, or on a handler.
    /// </summary>
    /// <remarks>
    /// <para>A message of a type without a handler goes to the error queue.</para>
    /// <para>
    /// In <c>scope-off</c> a handler opens connections of its own. Wolverine sends what the handler has sent when the handler has returned, and then
    /// acknowledges the message. What a handler sends is not persistent, as is Wolverine's way without an outbox: the broker loses it when it restarts, and
    /// what goes to a handler of the same application, or is scheduled, is in memory, and a stop loses it. A message whose send is refused is acknowledged
    /// all the same; so is one that is given up while the error queue refuses it. The start fails if a listener is <c>BufferedInMemory</c>.
    /// </para>
    /// <para>
    /// In <c>outbox</c> the receive stores messages in the inbox, and acknowledges them, before their handlers run. A handler takes a <c>DbContext</c> that is
    /// registered with <c>AddDbContextWithWolverineIntegration</c>, and works in its transaction. Wolverine commits the rows, the mark in the inbox and the
    /// sends together, also those to a handler of the same application. The start fails as on PostgreSQL. An
    /// inbox that was created without this method has another key: its messages of a second queue would be dropped if their id is known from the first.
    /// </para>
    /// <para>
    /// Differently from Wolverine's defaults, the broker confirms each publish, Wolverine tries a send again before it acknowledges, and a dead letter says
    /// why. Several applications on one database need a schema each: in <c>Solo</c> one that starts frees what the others are handling.
    /// </para>
    /// <para>
    /// The broker drops what is sent to a queue that does not exist. In <c>outbox</c> a message whose id is no GUID gets a new one at each delivery, and one
    /// that is returned from the error queue within <c>KeepAfterMessageHandling</c> is dropped.
    /// </para>
    /// <para>
    /// In <c>scope-off</c> a send that fails in four tries, within half a second, is dropped, and the message is acknowledged. While the connection for sends
    /// is away, about 5 s, that happens to each message.
    /// </para>
    /// <para>
    /// RabbitMQ.Client does not recover from a second cut of its connection while it recovers from the first one. The endpoint then receives nothing until it
    /// is started again; so if the broker ends the consumer. Watch the number of the queue's consumers.
    /// </para>
    /// </remarks>
    /// <param name="wolverine">The endpoint's options.</param>
    /// <param name="mode"><c>scope-off</c> or <c>outbox</c>.</param>
    /// <param name="broker">The address of the broker, with user and password, and its virtual host.</param>
    /// <param name="queue">The endpoint's queue. The error queue is named after it.</param>
    /// <param name="connectionString">In <c>outbox</c> the database of the handlers' rows, the inbox and the outbox; <c>scope-off</c> uses none.</param>
    /// <param name="schema">The schema of inbox and outbox.</param>
    /// <returns>The configuration of the queue's listener, for the number of listeners and the prefetch.</returns>
    /// <exception cref="InvalidOperationException">It has been called before.</exception>
    /// <exception cref="NotSupportedException">Wolverine does not support the mode. The message says why.</exception>
    /// <exception cref="ArgumentException">The mode needs a database, and none is named.</exception>
    public static RabbitMqListenerConfiguration UseTransactionMode(
        this WolverineOptions wolverine, TransactionMode mode, Uri broker, string queue, string? connectionString = null, string schema = "wolverine")
    {
        ArgumentNullException.ThrowIfNull(wolverine);
        ArgumentNullException.ThrowIfNull(mode);
        ArgumentNullException.ThrowIfNull(queue);
        if (WolverineSupport.OnRabbitMq(mode).Because is { } reason)
            throw new NotSupportedException($"Wolverine on RabbitMQ cannot run in {mode}: {reason}.");
        if (mode == TransactionMode.Outbox && string.IsNullOrWhiteSpace(connectionString))
        {
            throw new ArgumentException(
                "Expected the database of the handlers' rows, in which outbox stores messages; found none. Name it.", nameof(connectionString));
        }

        RequireFirstCall(wolverine);
        // Of a durable endpoint, messages are persistent.
        var errors = new DeadLetterQueue(ErrorQueue.Of(queue)) { ConfigureQueue = all => all.Mode = EndpointMode.Durable };
        wolverine.UseRabbitMq(broker)
            .ConfigureChannelCreation(channel => (channel.PublisherConfirmationsEnabled, channel.PublisherConfirmationTrackingEnabled) = (true, true))
            .EnableEnhancedDeadLettering()
            .CustomizeDeadLetterQueueing(errors);
        wolverine.Durability.UseSyncRetryBlock = true;
        SetAttempts(wolverine, mode);
        // A queue that was named before this has kept the transport's earlier one.
        var listener = wolverine.ListenToRabbitQueue(queue).DeadLetterQueueing(errors);
        if (mode != TransactionMode.Outbox)
        {
            wolverine.Policies.Add(new ListenersAreNotInMemory<RabbitMqQueue>());
            // The last waits for those before it, and may take consumer_timeout: of 100, Wolverine's default, each has 18 s.
            return listener.ProcessInline().PreFetchCount(3);
        }

        wolverine.PersistMessagesWithPostgresql(connectionString!, schema);
        SetTransaction(wolverine, connectionString!);
        // An event for two queues has one id: with Wolverine's default, an inbox that has it from one of them drops the other.
        wolverine.Durability.MessageIdentity = MessageIdentity.IdAndDestination;
        return listener.UseDurableInbox();
    }

    // Otherwise, each would write a dead letter for a message of a type without a handler.
    private static void RequireFirstCall(WolverineOptions wolverine)
    {
        if (wolverine.Services.Any(service => service.ImplementationType == typeof(UnknownTypeIsDeadLettered)))
        {
            throw new InvalidOperationException(
                "UseTransactionMode has been called already for this application. Expected one call: name other queues with Wolverine's own methods.");
        }
    }

    private static void SetTransaction(WolverineOptions wolverine, string store)
    {
        wolverine.UseEntityFrameworkCoreTransactions();
        wolverine.Policies.AutoApplyTransactions();
        wolverine.Policies.Add(new TransactionIsRequired(wolverine, store));
        wolverine.Policies.Add(new EndpointsAreDurable());
    }

    private static void SetAttempts(WolverineOptions wolverine, TransactionMode mode)
    {
        wolverine.Services.AddSingleton<IMissingHandler, UnknownTypeIsDeadLettered>();
        wolverine.OnAnyException().RetryTimes(mode.ImmediateRetries).Then.MoveToErrorQueue();
    }
}
