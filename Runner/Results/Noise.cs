using System.Text.Json.Serialization;

namespace Kit.Runner.Results;

/// <summary>What others took from the machine during a round: its processors, and its disk.</summary>
/// <param name="OtherCpuShare">CPU time of processes that do not belong to the kit, as a part (0 to 1) of what all cores could give.</param>
/// <param name="Limit">The share above which the round is noisy.</param>
/// <param name="BusiestProcess">The name of the other process that took most; <see langword="null"/> where that cannot be told.</param>
public sealed record Noise(Reading OtherCpuShare, double Limit, string? BusiestProcess)
{
    public const double DefaultLimit = 0.08;

    /// <summary>Above it a disk was slower than before the run by so much that the round is noisy.</summary>
    public const double FlushLimit = 1.5;

    /// <summary>
    /// How long a flush took next to the drain, as a multiple of what it took before the first round; absent where the server is not the kit's
    /// own.
    /// </summary>
    [JsonIgnore(Condition = JsonIgnoreCondition.WhenWritingNull)]
    public double? FlushRatio { get; init; }

    /// <summary>A share that could not be measured does not make a round noisy; the reports say that it is not known.</summary>
    public bool IsNoisy() => AreProcessorsNoisy() || IsDiskNoisy();

    /// <summary>Whether other processes took too much of the processors.</summary>
    public bool AreProcessorsNoisy() => OtherCpuShare.Value > Limit;

    /// <summary>Whether a flush took too long.</summary>
    public bool IsDiskNoisy() => FlushRatio > FlushLimit;
}
