namespace Kit.Runner.Faults.Experiments;

/// <summary>How much is done in a storm.</summary>
/// <param name="Kills">How often the handler process is killed.</param>
/// <param name="Cuts">How often every connection of the endpoint is cut.</param>
/// <param name="Seed">Of the moments.</param>
internal sealed record StormPlan(int Kills, int Cuts, int Seed)
{
    /// <summary>
    /// How often the database server crashes: every other time its processes are killed, and else it is stopped without a checkpoint.
    /// </summary>
    public int ServerCrashes { get; init; }

    /// <summary>The endpoint's connections that are set to commit without waiting for the log, whatever the mode needs: to see what that does.</summary>
    public Unflushed Unflushed { get; init; }

    /// <summary>Faults of every kind.</summary>
    public int Faults => Kills + Cuts + ServerCrashes;

    public const int DefaultFaults = 5;

    private const int FewestMessages = 2_000;
    private const int MessagesPerFault = 20;

    /// <summary>2,000, and more where each fault would meet too few.</summary>
    public int Messages => Math.Max(FewestMessages, (Faults + 1) * MessagesPerFault);

    /// <summary>
    /// No fault is injected after this time: 40 s, which leaves as much of a minute as settling takes, and 4 s for each fault above the default
    /// number.
    /// </summary>
    public TimeSpan Limit
    {
        get => field > TimeSpan.Zero ? field : TimeSpan.FromSeconds(40 + (4 * Math.Max(0, Faults - (2 * DefaultFaults))));
        init;
    }
}

/// <summary>Connections with <c>synchronous_commit = off</c>, as a role, a database or a connection string can have it.</summary>
[Flags]
internal enum Unflushed
{
    /// <summary>None.</summary>
    None = 0,

    /// <summary>Those to the queues, in PostgreSQL.</summary>
    Queue = 1,

    /// <summary>Those to the handlers' data.</summary>
    Data = 2,
}
