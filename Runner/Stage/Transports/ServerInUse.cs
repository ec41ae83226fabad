using Kit.Endpoints.Cells;
using Kit.Runner.Results;
using Kit.Runner.Servers;
using Kit.Runner.Stage.Databases;

namespace Kit.Runner.Stage.Transports;

/// <summary>
/// The server of a transport during a command: the user's, or the kit's own, which disposing stops and removes.
/// </summary>
internal abstract class ServerInUse : IAsyncDisposable
{
    /// <summary>Its processes, for CPU accounting; empty if it has none, <see langword="null"/> if it is not the kit's own.</summary>
    public abstract IReadOnlyList<int>? Processes { get; }

    public bool IsOwn => Processes is not null;

    /// <summary>True if all processes of the kit's own server are gone. A broker has helpers that come and go.</summary>
    public bool HasEnded => Processes is { Count: > 0 } all && all.All(id => ProcessIdentity.Of(id) is null);

    /// <summary>The version, as the server names it; <see langword="null"/> if there is none, or it was not asked.</summary>
    public virtual string? Version => null;

    /// <summary>Warnings about the named server, for a user.</summary>
    public virtual IReadOnlyList<string> Warnings => [];

    /// <summary>The environment variables that name it to another process. They contain passwords.</summary>
    public virtual IReadOnlyDictionary<string, string> Variables => new Dictionary<string, string>();

    /// <summary>Facts that it reports about itself, for a run's document; <see langword="null"/>: none.</summary>
    public virtual Task<IReadOnlyDictionary<string, string>?> ReadFactsAsync(CancellationToken cancellationToken) =>
        Task.FromResult<IReadOnlyDictionary<string, string>?>(null);

    /// <summary>Removes leftovers of crashed runs.</summary>
    public virtual Task<IReadOnlyList<Leftover>> RemoveLeftoversAsync(CancellationToken cancellationToken) =>
        Task.FromResult<IReadOnlyList<Leftover>>([]);

    /// <summary>Opens a place for the queues of one cell. Nothing else is in it, except the widgets if a mode needs them there.</summary>
    /// <param name="queue">If the server allows it.</param>
    /// <param name="databases">For queues next to the cell's widgets.</param>
    /// <exception cref="HttpRequestException">A broker's management plugin failed.</exception>
    /// <exception cref="KitException">The place cannot be created.</exception>
    public abstract Task<RoundTransport> OpenAsync(Cell cell, string queue, IQueueStore databases, CancellationToken cancellationToken);

    /// <summary>
    /// Lets commits that nobody waits for stay in the memory of the kit's own server for as long as it allows, so that a crash takes them back.
    /// </summary>
    /// <exception cref="InvalidOperationException">The server is the user's, or there is none.</exception>
    public virtual Task DelayFlushesAsync(CancellationToken cancellationToken) => throw NoCrash();

    /// <summary>Ends the kit's own server like a crash, and starts it again.</summary>
    /// <returns>A text about the crash, as evidence.</returns>
    /// <exception cref="InvalidOperationException">The server is the user's, or there is none.</exception>
    /// <exception cref="KitException">It does not start again.</exception>
    public virtual Task<string> CrashAsync(CancellationToken cancellationToken) => throw NoCrash();

    /// <summary>Kills every process of the server, and starts it again.</summary>
    /// <returns>A text about the kill, as evidence.</returns>
    /// <inheritdoc cref="CrashAsync" path="/exception"/>
    public virtual Task<string> KillAsync(CancellationToken cancellationToken) => throw NoCrash();

    /// <summary>Ends the kit's own server like a crash, and starts it again after some time.</summary>
    /// <inheritdoc cref="CrashAsync" path="/exception"/>
    public virtual Task<string> StayAwayAsync(TimeSpan time, CancellationToken cancellationToken) => throw NoCrash();

    public abstract ValueTask DisposeAsync();

    private static InvalidOperationException NoCrash() => new("The kit did not start this server, so no experiment may stop it.");
}
