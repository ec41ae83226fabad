using Kit.Endpoints.Wolverine;
using Kit.Modes;
using Microsoft.Extensions.DependencyInjection;
using Wolverine.EntityFrameworkCore;
using Wolverine.ErrorHandling;
using Wolverine.Postgresql;
using Wolverine.Postgresql.Transport;

// In Wolverine's namespace, so that the method is found where endpoints are configured.
#pragma warning disable IDE0130 // Namespace does not match folder structure
namespace Wolverine;
#pragma warning restore IDE0130

/// <summary>Sets the transport and the transaction mode of an endpoint on PostgreSQL.</summary>
public static class WolverineTransactionModeExtensions
{
    /// <summary>
    /// Sets the transport, the endpoint's queue with its durable inbox, the mode's retries, and the transaction around handlers. Everything else is left to
    /// you: durability mode, parallelism, polling, routing. Call it once, and set no other transport on PostgreSQL and no retries as well.
    /// </summary>
    /// <remarks>
    /// <para>
    /// In both modes the receive moves messages from the queue to the inbox, in a transaction of its own, before their handlers run.
    /// </para>
    /// <para>A message of a type without a handler goes to the dead letters.</para>
    /// <para>In <c>scope-off</c> a handler opens connections of its own, and Wolverine marks the message as handled afterwards.</para>
    /// <para>
    /// In <c>outbox</c> a handler takes a <c>DbContext</c> that is registered with <c>AddDbContextWithWolverineIntegration</c>, and works in its transaction:
    /// with Entity Framework Core, or on <c>Database.GetDbConnection()</c>. Wolverine commits the rows, the mark in the inbox and the sends together. The
    /// context's database must be that of the queues. The start fails if a handler takes no such context, or if Wolverine
    /// begins no transaction around it: <c>TransactionMiddlewareMode.Lightweight</c>.
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

        var queues = wolverine.UsePostgresqlPersistenceAndTransport(connectionString, schema, transportSchema);
        transport?.Invoke(queues);
        wolverine.Services.AddSingleton<IMissingHandler, UnknownTypeIsDeadLettered>();
        wolverine.OnAnyException().RetryTimes(mode.ImmediateRetries).Then.MoveToErrorQueue();
        if (mode == TransactionMode.Outbox)
        {
            wolverine.UseEntityFrameworkCoreTransactions();
            wolverine.Policies.AutoApplyTransactions();
            wolverine.Policies.Add<TransactionIsRequired>();
        }

        return wolverine.ListenToPostgresqlQueue(queue).UseDurableInbox();
    }
}
