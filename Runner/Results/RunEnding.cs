namespace Kit.Runner.Results;

/// <summary>The state of a run.</summary>
public enum RunState
{
    /// <summary>It is running, or its process died and could not change this.</summary>
    Running,
    Completed,
    Stopped,
}

/// <summary>The state of a run, with the reason if it was not completed.</summary>
public sealed record RunEnding(RunState State, string? Because)
{
    public static RunEnding Running { get; } = new(RunState.Running, null);

    public static RunEnding Completed { get; } = new(RunState.Completed, null);

    public static RunEnding Stopped(string because) => new(RunState.Stopped, because);

    public override string ToString() => State switch
    {
        RunState.Completed => "completed",
        RunState.Stopped => $"stopped: {Because}",
        RunState.Running => "not ended: the run goes on, or its process died",
        _ => $"{State}",
    };
}
