namespace Kit.Runner.Results;

/// <summary>The load from other processes during a round, on the processors and on the disk.</summary>
/// <param name="OtherCpuShare">CPU time of processes that do not belong to the kit, as a share (0 to 1) of all cores' capacity.</param>
/// <param name="Limit">The share above which the round is noisy.</param>
/// <param name="BusiestProcess">The name of the other process that used most; <see langword="null"/> if unknown.</param>
public sealed record Noise(Reading OtherCpuShare, double Limit, string? BusiestProcess)
{
    public const double DefaultLimit = 0.08;

    /// <summary>If flushes took longer than this multiple of their time before the run, the round is noisy.</summary>
    public const double FlushLimit = 1.5;

    /// <summary>The time of a flush around the drain, as a multiple of its time before the first round; absent if the server is not the kit's own.</summary>
    public double? FlushRatio { get; init; }

    /// <summary>True if the round is noisy. A share that could not be measured does not make it noisy; the reports say that it is unknown.</summary>
    public bool IsNoisy() => AreProcessorsNoisy() || IsDiskNoisy();

    /// <summary>
    /// The load as a multiple of what makes a round noisy, of the processors or of the disk, whichever is more; infinite where that of the processors was not
    /// measured, because it may have been noisy.
    /// </summary>
    public double Level() => Math.Max((OtherCpuShare.Value / Limit) ?? double.PositiveInfinity, (FlushRatio / FlushLimit) ?? 0);

    /// <summary>True if other processes used too much CPU time.</summary>
    public bool AreProcessorsNoisy() => OtherCpuShare.Value > Limit;

    /// <summary>True if a flush took too long.</summary>
    public bool IsDiskNoisy() => FlushRatio > FlushLimit;
}
