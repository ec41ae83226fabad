using Kit.Runner.Faults.Testbeds;

namespace Kit.Runner.Faults.Experiments;

/// <summary>The numbers of a storm.</summary>
/// <param name="Cuts">Cuts of every connection of the endpoint.</param>
/// <param name="Seed">For its random moments.</param>
internal sealed record StormPlan(int Kills, int Cuts, int Seed)
{
    /// <summary>
    /// Crashes of the database server: alternately its processes are killed, or it is stopped without a checkpoint.
    /// </summary>
    public int ServerCrashes { get; init; }

    /// <summary>The endpoint's connections that commit without waiting for the log, against the needs of the mode.</summary>
    public Unflushed Unflushed { get; init; }

    /// <summary>Faults of every kind.</summary>
    public int Faults => Kills + Cuts + ServerCrashes;

    public const int DefaultFaults = 5;

    private const int FewestMessages = 2_000;
    private const int MessagesPerFault = 20;

    /// <summary>2,000, or more if each fault would meet too few.</summary>
    public int Messages => Math.Max(FewestMessages, (Faults + 1) * MessagesPerFault);
}
