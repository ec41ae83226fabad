namespace Kit.Runner.Results.Points;

/// <summary>What an experiment at a point found.</summary>
public interface IPointResult
{
    FaultVerdict Verdict { get; }

    /// <summary>Why it is VOID or failed; <see langword="null"/> if it is neither.</summary>
    string? Because { get; }
}
