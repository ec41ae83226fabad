using System.Data.Common;
using Kit.Endpoints.Cells;
using Kit.Runner.Results;
using Kit.Runner.Stage.Databases;

namespace Kit.Runner.Stage.Transports;

/// <summary>A server that holds widgets, and can hold their queues.</summary>
internal abstract class DatabaseInUse : ServerInUse
{
    /// <summary>Connects as a role that may create databases. It contains the password.</summary>
    public abstract string ConnectionString { get; }

    /// <summary>The databases of the run.</summary>
    protected abstract IWidgetStore Store { get; }

    /// <summary>The clock that the server allows.</summary>
    public abstract Task<ClockSource> ReadClockAsync(CancellationToken cancellationToken);

    /// <inheritdoc cref="IWidgetStore.SeedAsync"/>
    /// <exception cref="KitException">The server refused, is full, or is out of reach.</exception>
    public Task<TimeSpan> SeedAsync(int rows, IProgress<int> progress, CancellationToken cancellationToken) =>
        StepAsync("The rows with which each round begins could not be seeded", Store.SeedAsync(rows, progress, cancellationToken), cancellationToken);

    /// <inheritdoc cref="IWidgetStore.RestoreAsync"/>
    /// <inheritdoc cref="SeedAsync" path="/exception"/>
    public Task<IRoundStore> RestoreAsync(CancellationToken cancellationToken) =>
        StepAsync("The databases of a round could not be made", Store.RestoreAsync(cancellationToken), cancellationToken);

    /// <inheritdoc cref="IWidgetStore.CreateEmptyAsync"/>
    /// <inheritdoc cref="SeedAsync" path="/exception"/>
    public Task<IRoundStore> CreateEmptyAsync(CancellationToken cancellationToken) =>
        StepAsync("The databases of a probe could not be made", Store.CreateEmptyAsync(cancellationToken), cancellationToken);

    /// <summary>The queue is in the round's own databases, and is dropped with them.</summary>
    public override Task<RoundTransport> OpenAsync(Cell cell, string queue, IQueueStore databases, CancellationToken cancellationToken) =>
        Task.FromResult(new RoundTransport(
            queue, databases.QueueForEndpoint(cell), databases.QueueForRunner(cell), () => ValueTask.CompletedTask));

    /// <summary>Drops the databases of the run.</summary>
    /// <param name="databases"><see langword="null"/>: none were made.</param>
    protected static async ValueTask DropAsync(IAsyncDisposable? databases)
    {
        try
        {
            if (databases is not null)
                await databases.DisposeAsync();
        }
        catch (DbException)
        {
            // It would hide what has failed before. The next run on the server drops what is left, and says so.
        }
    }

    private static async Task<T> StepAsync<T>(string failure, Task<T> work, CancellationToken cancellationToken)
    {
        try
        {
            return await work;
        }
        catch (DbException refused) when (!cancellationToken.IsCancellationRequested)
        {
            throw new KitException($"{failure}: {refused.Message}", "See the server's log; 'doctor' checks what the kit needs.", refused);
        }
    }
}
