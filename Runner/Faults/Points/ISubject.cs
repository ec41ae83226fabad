using Kit.Runner.Wire;

namespace Kit.Runner.Faults.Points;

/// <summary>
/// A cell of the kit, or a user's application, whose handling is met at its points. It has one process at a time, behind proxies, and ends it when
/// it is disposed of.
/// </summary>
/// <typeparam name="TAccount">The knowledge about its messages.</typeparam>
internal interface ISubject<TAccount> : IAsyncDisposable
{
    /// <summary>The proxies between its process and its servers.</summary>
    IReadOnlyCollection<FaultProxy> Proxies { get; }

    /// <summary>True if it has a process.</summary>
    bool IsRunning { get; }

    /// <summary>The user's remedy if an undisturbed message is not handled.</summary>
    string Remedy { get; }

    /// <summary>Starts its process.</summary>
    /// <exception cref="Kit.Runner.Results.KitException">It does not start.</exception>
    Task StartAsync(CancellationToken cancellationToken);

    /// <summary>Kills its process, and resets the process's connections as the operating system would.</summary>
    /// <returns>The exit code. If the process had ended before, that is one of <see cref="TakeOwnEnds"/>, too.</returns>
    /// <exception cref="Kit.Runner.Results.KitException">A server has not noticed it.</exception>
    Task<int> KillAsync();

    /// <exception cref="Kit.Runner.Results.KitException">Its process has ended, and must not.</exception>
    void ThrowIfBroken();

    /// <summary>The processes that have ended by themselves since the last call.</summary>
    IReadOnlyList<OwnEnd> TakeOwnEnds();

    /// <summary>Waits, and starts its process again if that ends by itself.</summary>
    /// <exception cref="Kit.Runner.Results.KitException">Its process has ended, and must not.</exception>
    Task WatchAsync(TimeSpan time, CancellationToken cancellationToken);

    /// <summary>Sends one message for each id. The process may be unable to ask its servers meanwhile.</summary>
    Task SendAsync(IReadOnlyList<Guid> messages, CancellationToken cancellationToken);

    /// <summary>Waits until the messages have been handled, nothing is left to do, and nothing has changed for a while.</summary>
    /// <param name="messages">Messages that have to be handled. Where some may be lost, only the last one: the others are waited for in vain.</param>
    /// <param name="limit">The longest wait. Less than <paramref name="quiet"/> does not accept work that is left.</param>
    /// <param name="quiet">Time without a change, if work is left, after which the work counts as stuck.</param>
    /// <exception cref="Kit.Runner.Results.KitException">Its process has ended, and must not.</exception>
    Task<Settlement> SettleAsync(IReadOnlyList<Guid> messages, TimeSpan limit, TimeSpan quiet, CancellationToken cancellationToken);

    /// <summary>The recovery of a process that met a fault and was not killed.</summary>
    /// <param name="messages">The messages that were sent last, when nothing moved any more.</param>
    Task<Recovery> RecoveryAsync(IReadOnlyList<Guid> messages, CancellationToken cancellationToken);

    /// <summary>Accounts for the messages since the last account. It may have to kill the process.</summary>
    Task<TAccount> AccountAsync(CancellationToken cancellationToken);
}

/// <summary>The end of a process that nobody had killed.</summary>
internal readonly record struct OwnEnd(int ExitCode, DateTime AtUtc);

/// <summary>The result of a wait.</summary>
/// <param name="IsDone">True if the messages were handled, and nothing is left to do. If false, and it did not take too long, nothing changes any more.</param>
/// <param name="Because">A text that says that it took too long; <see langword="null"/> if it did not.</param>
internal readonly record struct Settlement(bool IsDone, string? Because)
{
    /// <param name="left">The work that was left, as the end of the sentence.</param>
    public static Settlement TooLate(TimeSpan limit, string left = "") => new(IsDone: false, $"it did not settle within {limit.TotalSeconds:F0} s{left}");
}

/// <summary>The recovery of a process that met a fault and was not killed.</summary>
/// <param name="LeavesWork">True if it left work, or a message is not what is promised. A start could hide that.</param>
/// <param name="NotOnce">
/// Messages among those sent last that are promised, and not handled once: one of several workers can have found only then that its connection is gone.
/// </param>
internal readonly record struct Recovery(bool LeavesWork, int NotOnce)
{
    /// <summary>True if it handles messages as if nothing had happened.</summary>
    public bool IsWhole => !LeavesWork && NotOnce == 0;
}
