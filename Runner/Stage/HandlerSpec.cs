using Kit.Runner.Measuring;

namespace Kit.Runner.Stage;

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
