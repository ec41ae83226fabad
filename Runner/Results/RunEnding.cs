namespace Kit.Runner.Results;

/// <summary>How far a run came.</summary>
public enum RunState
{
    /// <summary>It goes on; or it ended without a word, and whoever reads this later sees so.</summary>
    Running,
    Completed,
    Stopped,
}

/// <summary>Whether a run came to its end, and if not, why.</summary>
public sealed record RunEnding(RunState State, string? Because)
{
    public static RunEnding Running { get; } = new(RunState.Running, null);

    public static RunEnding Completed { get; } = new(RunState.Completed, null);

    public static RunEnding Stopped(string because) => new(RunState.Stopped, because);

    public override string ToString() => State switch
    {
        RunState.Completed => "completed",
        RunState.Stopped => $"stopped: {Because}",
        _ => "not ended: the run goes on, or its process ended without a word",
    };
}
