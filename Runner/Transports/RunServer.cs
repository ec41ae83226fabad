using Kit.Endpoints.Cells;
using Kit.Runner.Results;
using Kit.Runner.Rounds;

namespace Kit.Runner.Transports;

/// <summary>
/// The server of a transport as long as a command uses it: the user's, or one of the kit's own, which disposing stops and removes.
/// </summary>
internal abstract class RunServer : IAsyncDisposable
{
    /// <summary>Its processes, for CPU accounting; none where it has none, <see langword="null"/> where it is not the kit's own.</summary>
    public abstract IReadOnlyList<int>? Processes { get; }

    public bool IsOwn => Processes is not null;

    /// <summary>As the server names it; <see langword="null"/> where there is none to tell, or it was not asked.</summary>
    public virtual string? Version => null;

    /// <summary>What a user should know of the server that was named.</summary>
    public virtual IReadOnlyList<string> Warnings => [];

    /// <summary>What names it to another process, by environment variable. It holds passwords.</summary>
    public virtual IReadOnlyDictionary<string, string> Variables => new Dictionary<string, string>();

    /// <summary>What it says of itself, for a run's document; <see langword="null"/>: nothing.</summary>
    public virtual Task<IReadOnlyDictionary<string, string>?> ReadFactsAsync(CancellationToken cancellationToken) =>
        Task.FromResult<IReadOnlyDictionary<string, string>?>(null);

    /// <summary>Removes what crashed runs left on it, where that is not done by whoever opens a place for queues.</summary>
    /// <returns>The names of what was removed.</returns>
    public virtual Task<IReadOnlyList<string>> RemoveLeftoversAsync(CancellationToken cancellationToken) =>
        Task.FromResult<IReadOnlyList<string>>([]);

    /// <summary>Opens a place for the queues of one cell, with nothing else in it but the widgets where a mode needs them there.</summary>
    /// <param name="cell">What is to run there.</param>
    /// <param name="queue">The queue's name, where it can have it.</param>
    /// <param name="databases">The databases for queues next to the cell's widgets.</param>
    /// <param name="cancellationToken">Ends the attempt.</param>
    /// <exception cref="HttpRequestException">A broker's management plugin failed.</exception>
    /// <exception cref="KitException">The place cannot be made.</exception>
    public abstract Task<RoundTransport> OpenAsync(Cell cell, string queue, IQueueStore databases, CancellationToken cancellationToken);

    /// <summary>Ends the kit's own server as a crash would, and starts it again.</summary>
    /// <returns>What shows it.</returns>
    /// <exception cref="InvalidOperationException">The server is the user's, or there is none.</exception>
    /// <exception cref="KitException">It does not start again.</exception>
    public virtual Task<string> CrashAsync(CancellationToken cancellationToken) => throw NoCrash();

    /// <summary>The same, and it is away for a time in between.</summary>
    /// <summary>Every process of the server is killed, and it is started again.</summary>
    /// <returns>What happened, as evidence.</returns>
    /// <inheritdoc cref="CrashAsync" path="/exception"/>
    public virtual Task<string> KillAsync(CancellationToken cancellationToken) => throw NoCrash();

    /// <inheritdoc cref="CrashAsync" path="/exception"/>
    public virtual Task<string> StayAwayAsync(TimeSpan time, CancellationToken cancellationToken) => throw NoCrash();

    public abstract ValueTask DisposeAsync();

    private static InvalidOperationException NoCrash() => new("No experiment stops this server: it is not one that the kit has started and can start again.");
}
