namespace Kit.Runner.Results.Faults;

/// <summary>What an experiment at a point found.</summary>
public interface IPointResult
{
    FaultVerdict Verdict { get; }
}
