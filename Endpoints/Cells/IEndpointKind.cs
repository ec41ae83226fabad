using System.Reflection;
using Kit.Endpoints.Bare;
using Kit.Handlers;
using Kit.Modes;
using Microsoft.Extensions.DependencyInjection;

namespace Kit.Endpoints.Cells;

/// <summary>One framework on one transport: what it supports, and its endpoints and queues.</summary>
public interface IEndpointKind
{
    /// <summary>All that the runner needs of its framework.</summary>
    FrameworkFacts Facts { get; }

    string Framework => Facts.Name;

    string Transport { get; }

    /// <summary>The server that holds its widgets.</summary>
    WidgetServer WidgetServer { get; }

    /// <summary>The framework's and the drivers' assemblies, whose versions are recorded with every figure.</summary>
    IReadOnlyList<Assembly> Packages { get; }

    /// <summary>The histograms of its packages that measure what a worker does with a message; none for a phase that no package measures.</summary>
    IReadOnlyList<PhaseInstrument> Instruments => [];

    /// <summary>Support by this build. Without it, nothing is known about the modes that the kind supports.</summary>
    Support InBuild => Support.Yes;

    Support Supports(TransactionMode mode);

    /// <summary>
    /// It is the kit's own endpoint with rows in PostgreSQL, for which the settings of the matrix are written: flushes, ways to receive, and what is built
    /// once. Where it lacks one of them, it says why.
    /// </summary>
    bool HasSettings => false;

    /// <summary>Support for fewer flushes of the database's log, in a mode that it supports.</summary>
    Support Supports(TransactionMode mode, LogFlush flush) => flush == LogFlush.Every
        ? Support.Yes
        : OnlyOnPostgreSql.Flushes;

    /// <summary>Support for receiving several messages at once, in a mode that it supports.</summary>
    Support SupportsBatches(TransactionMode mode, LogFlush flush) => OnlyOnPostgreSql.Batches;

    /// <summary>Support for receiving the next message with the commit, in a mode that it supports.</summary>
    Support SupportsReceivingAhead(TransactionMode mode, LogFlush flush, int batchSize) => OnlyOnPostgreSql.Ahead;

    /// <summary>
    /// The connections to the widgets' database that its handlers need, so that as many run at the same time as its settings say. An endpoint that
    /// checks its pools refuses fewer.
    /// </summary>
    int LeastConnections(TransactionMode mode, int concurrency) => 1;

    /// <summary>The queue must be in the widgets' database, because of the mode or of the framework.</summary>
    bool NeedsOneDatabase(TransactionMode mode) => mode is { NeedsOneDatabase: true };

    /// <summary>It can also move a message to the error queue when it receives it once more, after its last attempt was rolled back.</summary>
    bool CanDeadLetterNext => false;

    /// <summary>It can also look for messages more often, and receive more at a time, than by default.</summary>
    bool CanPollOften => false;

    /// <summary>Support for events, each of which arrives in the queues that have subscribed to its type.</summary>
    Support SupportsEvents => Support.Yes;

    /// <summary>Support for several processes that receive from one queue.</summary>
    Support SupportsProcesses => Support.Yes;

    /// <summary>A send to a queue that nobody has created is in that queue.</summary>
    bool TakesUnknownQueues => false;

    /// <summary>The table of a queue, on a transport whose queues are in a database.</summary>
    QueueTable TableOf(string queue) => QueueTable.Of(queue);

    /// <summary>The table with the sends that are still to be dispatched; <see langword="null"/>: its endpoint has none in this mode.</summary>
    string? OutboxTableOf(TransactionMode mode, string queue) => null;

    /// <summary>That table is in the database of the queues, and not in that of the widgets.</summary>
    bool KeepsOutboxWithQueues => false;

    /// <summary>A failure is counted only after the receive has been rolled back. Until then, each other worker can handle the message once more.</summary>
    bool CountsAfterRollback(TransactionMode mode) => mode is { CountsAfterRollback: true };

    /// <summary>The lines that set the mode of an endpoint, as an application writes them.</summary>
    /// <exception cref="NotSupportedException">This build lacks it.</exception>
    IReadOnlyList<string> CodeOf(TransactionMode mode);

    /// <summary>Adds one endpoint, which starts and stops with the host.</summary>
    void AddEndpoint(IServiceCollection services, EndpointSettings settings, HandleMessage handle);

    /// <summary>Opens a queue, to fill and count it from outside.</summary>
    /// <param name="transport">The transport's connection string.</param>
    IMessageQueue OpenQueue(string name, string transport);

    /// <summary>Opens the queue of an endpoint: with what its mode moves to an inbox next to the rows before a handler has it.</summary>
    /// <param name="transport">The transport's connection string.</param>
    /// <param name="widgets">The connection string of the widgets' database.</param>
    IMessageQueue OpenQueueOf(TransactionMode mode, string name, string transport, string widgets) => OpenQueue(name, transport);
}
