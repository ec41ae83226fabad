using Kit.Runner.Results;
using Kit.Runner.Transports;

namespace Kit.Runner.Rounds;

/// <summary>What all rounds of a cell share.</summary>
/// <param name="Sizes">How much is seeded, warmed up and drained.</param>
/// <param name="Clock">Which clock the widgets' server allows.</param>
/// <param name="Queues">The server that holds the queue.</param>
/// <param name="Widgets">The server that holds the widgets; the same, where one holds both.</param>
/// <param name="Disk">What the servers of the kit's own keep their files on; <see langword="null"/>: none is.</param>
/// <param name="Processes">The processes of the run's servers that are the kit's own, those that the cell does not use among them.</param>
internal sealed record RoundSettings(
    RunSettings Sizes, ClockSource Clock, RunServer Queues, RunDatabase Widgets, DiskFacts? Disk, IReadOnlyList<int> Processes)
{
    /// <summary>The processes of the servers that the cell uses; <see langword="null"/> unless all of them are the kit's own.</summary>
    public IReadOnlyList<int>? ServerProcesses =>
        (Widgets.Processes, Queues.Processes) is ({ } widgets, { } queues) ? [.. widgets.Union(queues)] : null;
}
