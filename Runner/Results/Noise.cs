namespace Kit.Runner.Results;

/// <summary>What other processes took from the machine during a round.</summary>
/// <param name="OtherCpuShare">CPU time of processes that do not belong to the kit, as a part (0 to 1) of what all cores could give.</param>
/// <param name="Limit">The share above which the round is noisy.</param>
/// <param name="BusiestProcess">The name of the other process that took most; <see langword="null"/> where that cannot be told.</param>
public sealed record Noise(Reading OtherCpuShare, double Limit, string? BusiestProcess)
{
    public const double DefaultLimit = 0.08;

    /// <summary>A share that could not be measured does not make a round noisy; the reports say that it is not known.</summary>
    public bool IsNoisy() => OtherCpuShare.Value > Limit;
}
