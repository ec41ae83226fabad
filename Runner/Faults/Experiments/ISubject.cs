namespace Kit.Runner.Faults.Experiments;

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
    /// <returns>The exit code.</returns>
    /// <exception cref="Kit.Runner.Results.KitException">A server has not noticed it.</exception>
    Task<int> KillAsync();

    /// <exception cref="Kit.Runner.Results.KitException">Its process has ended, and must not.</exception>
    void ThrowIfBroken();

    /// <summary>Sends one message for each id. The process may be unable to ask its servers meanwhile.</summary>
    Task SendAsync(IReadOnlyList<Guid> messages, CancellationToken cancellationToken);

    /// <summary>Waits until the message has been handled, nothing is left to do, and nothing has changed for a while.</summary>
    /// <param name="last">The message that was sent last.</param>
    /// <param name="limit">How long at most. Less than <paramref name="quiet"/> does not accept work that is left.</param>
    /// <param name="quiet">How long nothing may change, if work is left, before it is taken to stay.</param>
    /// <param name="cancellationToken">Cancels the wait.</param>
    /// <returns>That it took too long, as a text; <see langword="null"/> if it did not.</returns>
    Task<string?> SettleAsync(Guid last, TimeSpan limit, TimeSpan quiet, CancellationToken cancellationToken);

    /// <summary>
    /// Whether nothing is left to do, and the last message, or every one, is in a class that is promised. If not, a start could hide what must be found.
    /// </summary>
    /// <param name="last">The message that was sent last.</param>
    /// <param name="cancellationToken">Cancels the question.</param>
    Task<bool> IsDoneAsync(Guid last, CancellationToken cancellationToken);

    /// <summary>Accounts for what was sent since the last account. It may have to kill the process.</summary>
    Task<TAccount> AccountAsync(CancellationToken cancellationToken);
}
