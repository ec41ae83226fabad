namespace Kit.Runner.Stage;

/// <summary>
/// What a handler process must run. It is passed on standard input, not on the command line: connection strings contain passwords, and
/// every user of a machine can read command lines.
/// </summary>
/// <param name="Cell">The cell's name.</param>
/// <param name="Queue">The queue's name.</param>
/// <param name="Transport">Connection string of the transport.</param>
/// <param name="Widgets">Connection string of the widgets' database.</param>
/// <param name="Concurrency">How many messages are handled at the same time.</param>
/// <param name="RecordCompletions">Whether to record when each handler returned, for rounds without commit timestamps.</param>
/// <param name="Experiment">What the handler of an experiment with faults does; <see langword="null"/>: the measured handler runs.</param>
internal sealed record HandlerSpec(
    string Cell, string Queue, string Transport, string Widgets, int Concurrency, bool RecordCompletions,
    ExperimentSpec? Experiment = null)
{
    /// <summary>
    /// Whether the durations of each message's phases are kept, for a round's report. In a load of hours they would be memory that the process gains.
    /// </summary>
    public bool KeepsPhases { get; init; } = true;

    /// <summary>Whether <see cref="DrainReport.FirstEntryUtc"/> is by the clock of the widgets' server, because the process is on another machine.</summary>
    public bool AsksServerForItsEntry { get; init; }

    /// <summary>Its number among the processes that share the queue, from 1, because seeded rows have 0; <see langword="null"/>: it has it alone.</summary>
    public int? Process { get; init; }

    /// <summary>The timeout of the handlers' ambient transactions; <see langword="null"/>: .NET's default.</summary>
    public TimeSpan? TransactionTimeout { get; init; }
}
