using System.Reflection;
using Kit.Endpoints.Bare;
using Kit.Handlers;
using Kit.Modes;
using Microsoft.Extensions.DependencyInjection;

namespace Kit.Endpoints.Cells;

/// <summary>One framework on one transport: what it supports, and its endpoints and queues.</summary>
public interface IEndpointKind
{
    string Framework { get; }

    string Transport { get; }

    /// <summary>The server that holds its widgets.</summary>
    WidgetServer Widgets { get; }

    /// <summary>The framework's and the drivers' assemblies, whose versions are recorded with every figure.</summary>
    IReadOnlyList<Assembly> Packages { get; }

    /// <summary>The histograms of its packages that measure what a worker does with a message; none for a phase that no package measures.</summary>
    IReadOnlyList<PhaseInstrument> Instruments => [];

    /// <summary>Whether this build has it, or why not. If not, nothing is known about the modes that it supports.</summary>
    Support InBuild => Support.Yes;

    Support Supports(TransactionMode mode);

    /// <summary>Whether it can leave out flushes of the database's log, in a mode that it supports.</summary>
    Support Supports(TransactionMode mode, LogFlush flush) => flush == LogFlush.Every
        ? Support.Yes
        : OnlyOnPostgreSql.Flushes;

    /// <summary>Whether it can receive several messages at once, in a mode that it supports.</summary>
    Support SupportsBatches(TransactionMode mode, LogFlush flush) => OnlyOnPostgreSql.Batches;

    /// <summary>Whether a commit can also receive the next message, in a mode that it supports.</summary>
    Support SupportsReceivingAhead(TransactionMode mode, LogFlush flush, int batchSize) => OnlyOnPostgreSql.Ahead;

    /// <summary>
    /// How many connections to the widgets' database its handlers need, so that as many run at the same time as its settings say. An endpoint that
    /// checks its pools refuses fewer.
    /// </summary>
    /// <param name="mode">A mode that it supports.</param>
    /// <param name="concurrency">How many messages are handled at the same time.</param>
    int LeastConnections(TransactionMode mode, int concurrency) => 1;

    /// <summary>
    /// Whether a failure is counted only after the receive has been rolled back. Before it is counted, each other worker can handle the
    /// message once more.
    /// </summary>
    bool CountsAfterRollback(TransactionMode mode) => mode is { CountsAfterRollback: true };

    /// <summary>The lines that set the mode of an endpoint, as an application writes them.</summary>
    /// <param name="mode">A mode that it supports.</param>
    /// <exception cref="NotSupportedException">This build lacks it.</exception>
    IReadOnlyList<string> CodeOf(TransactionMode mode);

    /// <summary>Adds one endpoint, which starts and stops with the host.</summary>
    void AddEndpoint(IServiceCollection services, EndpointSettings settings, HandleMessage handle);

    /// <summary>Opens the endpoint's queue, to fill and count it from outside.</summary>
    /// <param name="name">The queue's name.</param>
    /// <param name="transport">The transport's connection string.</param>
    IMessageQueue OpenQueue(string name, string transport);
}
