namespace Kit.Runner.Results.Points;

/// <summary>The findings of an experiment at a point.</summary>
public interface IPointResult
{
    FaultVerdict Verdict { get; }

    /// <summary>The reason why it is VOID or failed; <see langword="null"/> if it is neither.</summary>
    string? Because { get; }
}
