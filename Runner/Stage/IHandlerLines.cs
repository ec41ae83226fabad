using System.Diagnostics.CodeAnalysis;

namespace Kit.Runner.Stage;

/// <summary>
/// The lines between the runner and a handler process. To the process: its specification and the commands of <see cref="HandlerProgram"/>. From the process:
/// each <see cref="HandlerEvent"/>.
/// </summary>
internal interface IHandlerLines : IAsyncDisposable
{
    /// <summary>Sends the specification, before anything else.</summary>
    Task OrderAsync(HandlerSpec spec, CancellationToken cancellationToken);

    /// <summary>Sends a line. If the process has ended, nothing happens: <see cref="HearAsync"/> gives the reason.</summary>
    Task SayAsync(string line, CancellationToken cancellationToken);

    /// <summary>The next line of the process; <see langword="null"/> when it has ended.</summary>
    /// <exception cref="WorkerLostException">The worker that ran the process is gone.</exception>
    Task<string?> HearAsync();

    /// <summary>The remedy for a process that has ended by itself: its last output says most.</summary>
    Task<string> ReadRemedyAsync();

    /// <summary>Closes the process's input, and waits until the process has ended.</summary>
    Task EndAsync();
}

/// <summary>A worker of another machine is gone, with its handler processes. The round that it took part in does not count.</summary>
/// <param name="reason">The worker, and what has happened to it.</param>
[SuppressMessage("Design", "CA1064:Exceptions should be public", Justification = "It goes from a round's handlers to the run, and no further.")]
internal sealed class WorkerLostException(string reason) : Exception(reason);
