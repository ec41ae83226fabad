using Kit.Runner.Results;

namespace Kit.Benchmarks.Floor;

/// <summary>One drain in one line.</summary>
internal static class ContestLine
{
    public static string Of(ContestResult result) => result.Outcome.IsValid()
        ? $"{Figures.Measured(result.PerSecond)} commits/s in {Figures.Measured(result.Seconds)} s{NoiseOf(result)}"
        : $"{result.Outcome}: {string.Join("; ", result.Outcome.Reasons)}";

    /// <summary>Other processes' share of the machine; of several results, the greatest.</summary>
    public static string OthersOf(params IReadOnlyList<ContestResult> results) =>
        results.Max(result => result.OthersShare) is { } share ? Figures.Share(share) : Figures.None;

    private static string NoiseOf(ContestResult result) =>
        result.OthersShare > Noise.DefaultLimit ? $"; noisy, other processes took {Figures.Share(result.OthersShare.Value)}" : "";
}
