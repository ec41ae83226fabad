namespace Kit.Runner.Stage;

/// <summary>
/// The lines between the runner and a handler process: to it its specification and what <see cref="HandlerProgram"/> obeys, from it each
/// <see cref="HandlerEvent"/>.
/// </summary>
internal interface IHandlerLines : IAsyncDisposable
{
    /// <summary>Says what the process must run, before anything else.</summary>
    Task OrderAsync(HandlerSpec spec, CancellationToken cancellationToken);

    /// <summary>Sends a line. If the process has ended, nothing happens: what is heard says why.</summary>
    Task SayAsync(string line, CancellationToken cancellationToken);

    /// <summary>The next line of the process; <see langword="null"/> when it has ended.</summary>
    /// <exception cref="WorkerLostException">The worker that ran the process is gone.</exception>
    Task<string?> HearAsync();

    /// <summary>What can be done about a process that has ended by itself: its last output says most.</summary>
    Task<string> ReadRemedyAsync();

    /// <summary>Closes the process's input, and waits until the process has ended.</summary>
    Task EndAsync();
}
