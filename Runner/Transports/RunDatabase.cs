using Kit.Endpoints.Cells;
using Kit.Runner.Results;
using Kit.Runner.Rounds;

namespace Kit.Runner.Transports;

/// <summary>A server that holds widgets, and can hold their queues.</summary>
internal abstract class RunDatabase : RunServer
{
    /// <summary>For a role that may create databases. It contains the password.</summary>
    public abstract string ConnectionString { get; }

    /// <summary>The databases of the run.</summary>
    public abstract IWidgetStore Store { get; }

    /// <summary>The clock that the server allows.</summary>
    public abstract Task<ClockSource> ReadClockAsync(CancellationToken cancellationToken);

    /// <summary>The queue is in the round's own databases, and is dropped with them.</summary>
    public override Task<RoundTransport> OpenAsync(Cell cell, string queue, IQueueStore databases, CancellationToken cancellationToken) =>
        Task.FromResult(new RoundTransport(
            queue, databases.QueueForEndpoint(cell.Mode), databases.QueueForRunner(cell.Mode), () => ValueTask.CompletedTask));
}
