using System.Diagnostics.CodeAnalysis;
using System.Text.Json.Serialization;
using Kit.Runner.Measuring;

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

/// <summary>
/// The specification of a handler process. It is passed on standard input, not on the command line: connection strings contain passwords, and
/// every user of a machine can read command lines.
/// </summary>
/// <param name="Transport">Connection string of the transport.</param>
/// <param name="Widgets">Connection string of the widgets' database.</param>
/// <param name="RecordCompletions">True to record when each handler returned, for rounds without commit timestamps.</param>
/// <param name="Experiment">The handler of an experiment with faults; <see langword="null"/>: the measured handler runs.</param>
internal sealed record HandlerSpec(
    string Cell, string Queue, string Transport, string Widgets, int Concurrency, bool RecordCompletions,
    ExperimentSpec? Experiment = null)
{
    /// <summary>True to keep the durations of each message's phases, for a round's report. In a load of hours their memory would look like a leak.</summary>
    public bool KeepsPhases { get; init; } = true;

    /// <summary>True if <see cref="DrainReport.FirstEntryUtc"/> is by the clock of the widgets' server, because the process is on another machine.</summary>
    public bool AsksServerForItsEntry { get; init; }

    /// <summary>Number among the processes that share the queue, from 1, because seeded rows have 0; <see langword="null"/>: the queue is not shared.</summary>
    public int? Process { get; init; }

    /// <summary>The timeout of the handlers' ambient transactions; <see langword="null"/>: .NET's default.</summary>
    public TimeSpan? TransactionTimeout { get; init; }
}

/// <summary>Events that a handler process reports on standard output, as one JSON line each.</summary>
[JsonDerivedType(typeof(HandlerReady), "ready")]
[JsonDerivedType(typeof(HandlerProgress), "progress")]
[JsonDerivedType(typeof(HandlerStopped), "stopped")]
[JsonDerivedType(typeof(HandlerFailed), "failed")]
internal abstract record HandlerEvent;

/// <summary>The specification was understood.</summary>
internal sealed record HandlerReady : HandlerEvent;

/// <param name="Entered">Handlers that were entered since the endpoint started.</param>
/// <param name="Handled">Handlers that returned since then.</param>
/// <param name="Failed">Handlers that threw since then: each is an attempt, and not a message.</param>
/// <param name="HeapBytes">The managed heap after the last collection; 0 before the first.</param>
internal sealed record HandlerProgress(int Entered, int Handled, int Failed, long HeapBytes) : HandlerEvent;

/// <summary>The endpoint has stopped, its connections are closed.</summary>
internal sealed record HandlerStopped(DrainReport Report) : HandlerEvent;

/// <summary>The endpoint could not start, or broke.</summary>
/// <param name="Reason">For a user.</param>
internal sealed record HandlerFailed(string Reason) : HandlerEvent;
