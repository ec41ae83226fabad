using Kit.Runner.Wire;

namespace Kit.Runner.Points;

/// <summary>
/// A cell of the kit, or a user's application, whose handling is met at its points. It has one process at a time, behind proxies, and disposing ends
/// that.
/// </summary>
/// <typeparam name="TAccount">What is known about its messages.</typeparam>
internal interface ISubject<TAccount> : IAsyncDisposable
{
    /// <summary>Between its process and its servers.</summary>
    IReadOnlyCollection<FaultProxy> Proxies { get; }

    /// <summary>Whether it has a process.</summary>
    bool IsRunning { get; }

    /// <summary>What the user can do if an undisturbed message is not handled.</summary>
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

    /// <summary>How its processes have ended by themselves since the last call.</summary>
    IReadOnlyList<OwnEnd> TakeOwnEnds();

    /// <summary>Waits, and starts its process again if that ends by itself.</summary>
    /// <exception cref="Kit.Runner.Results.KitException">Its process has ended, and must not.</exception>
    Task WatchAsync(TimeSpan time, CancellationToken cancellationToken);

    /// <summary>Sends one message for each id. The process may be unable to ask its servers meanwhile.</summary>
    Task SendAsync(IReadOnlyList<Guid> messages, CancellationToken cancellationToken);

    /// <summary>Waits until the messages have been handled, nothing is left to do, and nothing has changed for a while.</summary>
    /// <param name="messages">Those that have to be handled. Where some may be lost, only the last one: the others are waited for in vain.</param>
    /// <param name="limit">How long at most. Less than <paramref name="quiet"/> does not accept work that is left.</param>
    /// <param name="quiet">How long nothing may change, if work is left, before it is taken to stay.</param>
    /// <param name="cancellationToken">Cancels the wait.</param>
    /// <exception cref="Kit.Runner.Results.KitException">Its process has ended, and must not.</exception>
    Task<Settlement> SettleAsync(IReadOnlyList<Guid> messages, TimeSpan limit, TimeSpan quiet, CancellationToken cancellationToken);

    /// <summary>How far a process has come that met a fault and was not killed.</summary>
    /// <param name="messages">Those that were sent last, when nothing moved any more.</param>
    /// <param name="cancellationToken">Cancels the question.</param>
    Task<Recovery> RecoveryAsync(IReadOnlyList<Guid> messages, CancellationToken cancellationToken);

    /// <summary>Accounts for what was sent since the last account. It may have to kill the process.</summary>
    Task<TAccount> AccountAsync(CancellationToken cancellationToken);
}

/// <summary>How a process ended that nobody had killed.</summary>
/// <param name="ExitCode">Its exit code.</param>
/// <param name="AtUtc">When it ended.</param>
internal readonly record struct OwnEnd(int ExitCode, DateTime AtUtc);

/// <summary>How a wait ended.</summary>
/// <param name="IsDone">Whether the messages were handled, and nothing is left to do. If not, and it did not take too long, nothing changes any more.</param>
/// <param name="Because">That it took too long; <see langword="null"/> if it did not.</param>
internal readonly record struct Settlement(bool IsDone, string? Because)
{
    /// <param name="limit">That was exceeded.</param>
    /// <param name="left">What was left to do, as the end of the sentence.</param>
    public static Settlement TooLate(TimeSpan limit, string left = "") => new(IsDone: false, $"it did not settle within {limit.TotalSeconds:F0} s{left}");
}

/// <summary>How far a process has come that met a fault and was not killed.</summary>
/// <param name="LeavesWork">Whether it left work, or a message is not what is promised. A start could hide that.</param>
/// <param name="NotOnce">
/// How many of the messages that were sent last are promised, and not once: one of several workers can have found only then that its connection is gone.
/// </param>
internal readonly record struct Recovery(bool LeavesWork, int NotOnce)
{
    /// <summary>Whether it handles messages as if nothing had happened.</summary>
    public bool IsWhole => !LeavesWork && NotOnce == 0;
}
