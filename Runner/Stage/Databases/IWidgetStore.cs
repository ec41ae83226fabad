using Kit.Endpoints.Cells;
using Kit.Handlers;
using Kit.Runner.Measuring;
using Kit.Runner.Results.Accounts;

namespace Kit.Runner.Stage.Databases;

/// <summary>The databases of one run on a server that holds widgets: a table that is seeded once and restored before each round.</summary>
internal interface IWidgetStore : IAsyncDisposable
{
    /// <summary>Seeds the rows with which every round begins.</summary>
    /// <returns>The duration.</returns>
    Task<TimeSpan> SeedAsync(int rows, IProgress<int> progress, CancellationToken cancellationToken);

    /// <summary>The databases of a round; the widgets' has the seeded rows.</summary>
    Task<IRoundStore> RestoreAsync(CancellationToken cancellationToken);

    /// <summary>The databases of a round, without rows.</summary>
    Task<IRoundStore> CreateEmptyAsync(CancellationToken cancellationToken);
}

/// <summary>The databases for queues that are next to widgets.</summary>
internal interface IQueueStore
{
    /// <summary>Connection string of the database with a cell's queue, with the settings of every endpoint of a run.</summary>
    string QueueForEndpoint(Cell cell);

    /// <summary>Connection string of the database with a cell's queue, for the runner's own queries: no session stays open and is counted.</summary>
    string QueueForRunner(Cell cell);
}

/// <summary>The two databases of one round, one for queues and one for widgets; dropped when it has ended.</summary>
internal interface IRoundStore : IQueueStore, IAsyncDisposable
{
    /// <summary>Connection string of the widgets' database, as <see cref="IQueueStore.QueueForEndpoint"/>.</summary>
    string WidgetsForEndpoint { get; }

    /// <summary>Connection string of the widgets' database, for the runner's own queries.</summary>
    string WidgetsForRunner { get; }

    /// <summary>Runs the statements that a scenario or a condition needs before the first message.</summary>
    Task PrepareAsync(string statements, CancellationToken cancellationToken);

    /// <summary>The messages that a scenario's handlers have counted; <see langword="null"/>: they count none.</summary>
    Task<long?> ReadTotalAsync(Scenario scenario, CancellationToken cancellationToken);

    /// <summary>Some of the seeded rows, from all over the table, in the order of their ids.</summary>
    /// <exception cref="NotSupportedException">No scenario on this server asks for rows.</exception>
    Task<IReadOnlyList<Widget>> ReadSeededAsync(int most, CancellationToken cancellationToken);

    /// <summary>All rows of the widgets' table.</summary>
    Task<long> CountAsync(CancellationToken cancellationToken);

    /// <summary>All rows that are not seeded.</summary>
    Task<IReadOnlyList<BuiltWidget>> ReadBuiltAsync(bool withCommitTime, CancellationToken cancellationToken);

    /// <summary>Prepared transactions left in the databases of the round.</summary>
    Task<IReadOnlyList<PreparedTransaction>> ReadPreparedAsync(CancellationToken cancellationToken);

    /// <summary>The lead of the server's clock over this machine's.</summary>
    Task<TimeSpan> ClockAheadAsync(CancellationToken cancellationToken);

    /// <summary>Brings the server into the same state before every drain.</summary>
    Task SettleAsync(Cell cell, CancellationToken cancellationToken);

    /// <summary>The server's counters now; <see langword="null"/> if the kit does not read them.</summary>
    Task<ServerCounters?> ReadCountersAsync(CancellationToken cancellationToken);
}

/// <summary>A widget row that a message built.</summary>
/// <param name="Committed">Commit time of its transaction, by the server's clock; <see langword="null"/> if the server does not record it.</param>
internal sealed record BuiltWidget(long Id, Guid MessageId, DateTimeOffset? Committed);
