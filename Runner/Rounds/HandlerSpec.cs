using Kit.Runner.Faults.Experiments;

namespace Kit.Runner.Rounds;

/// <summary>
/// What a handler process must run. It goes over standard input, not the command line, because connection strings hold passwords and
/// every user of a machine can read command lines.
/// </summary>
/// <param name="Cell">The cell's name.</param>
/// <param name="Queue">The queue's name.</param>
/// <param name="Transport">Connection string of the transport.</param>
/// <param name="Widgets">Connection string of the widgets' database.</param>
/// <param name="Concurrency">How many messages are handled at the same time.</param>
/// <param name="RecordCompletions">Whether to note when each handler returned, for servers that keep no commit timestamps.</param>
/// <param name="Experiment">What the handler of an experiment with faults does; <see langword="null"/>: the handler is the one that is measured.</param>
internal sealed record HandlerSpec(
    string Cell, string Queue, string Transport, string Widgets, int Concurrency, bool RecordCompletions,
    ExperimentSpec? Experiment = null)
{
    /// <summary>How long the ambient transactions of handlers last; .NET's default where it is not given.</summary>
    public TimeSpan? TransactionTimeout { get; init; }
}
