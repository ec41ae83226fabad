using Kit.Runner.Results;
using Kit.Runner.Rounds.Joining;
using Kit.Runner.Stage.Transports;

namespace Kit.Runner.Rounds;

/// <summary>The settings that all rounds of a cell share.</summary>
/// <param name="Sizes">Rows to seed, messages to warm up with and to drain.</param>
/// <param name="Clock">As the widgets' server and the scenario allow it.</param>
/// <param name="Queues">Server of the queue.</param>
/// <param name="Widgets">Server of the widgets, which can be the same.</param>
/// <param name="Disk">The disk with the files of the kit's own servers; <see langword="null"/>: there is none.</param>
/// <param name="Processes">The processes of all the kit's own servers in the run, also of those that the cell does not use.</param>
internal sealed record RoundSettings(
    RunSettings Sizes, ClockSource Clock, ServerInUse Queues, DatabaseInUse Widgets, DiskFacts? Disk, IReadOnlyList<int> Processes)
{
    /// <summary>The workers on other machines that run the handlers; <see langword="null"/>: this machine runs them.</summary>
    public JoinedWorkers? Workers { get; init; }

    /// <summary>True if a server of the cell has ended by itself.</summary>
    public bool HasEnded => Queues.HasEnded || Widgets.HasEnded;

    /// <summary>The processes of the servers that the cell uses; <see langword="null"/> unless all of them are the kit's own.</summary>
    public IReadOnlyList<int>? ServerProcesses =>
        (Widgets.Processes, Queues.Processes) is ({ } widgets, { } queues) ? [.. widgets.Union(queues)] : null;
}
