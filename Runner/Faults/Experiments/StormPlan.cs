namespace Kit.Runner.Faults.Experiments;

/// <summary>How much is done in a storm.</summary>
/// <param name="Kills">How often the handler process is killed.</param>
/// <param name="Cuts">How often every connection of the endpoint is cut.</param>
/// <param name="Seed">Of the moments.</param>
internal sealed record StormPlan(int Kills, int Cuts, int Seed)
{
    public const int DefaultFaults = 5;

    private const int FewestMessages = 2_000;
    private const int MessagesPerFault = 20;

    /// <summary>2,000, and more where each fault would meet too few.</summary>
    public int Messages => Math.Max(FewestMessages, (Kills + Cuts + 1) * MessagesPerFault);

    /// <summary>
    /// No fault is injected after this time: 40 s, which leaves as much of a minute as settling takes, and 4 s for each fault above the default
    /// number.
    /// </summary>
    public TimeSpan Limit { get; init; } = TimeSpan.FromSeconds(40 + (4 * Math.Max(0, Kills + Cuts - (2 * DefaultFaults))));
}
