using Kit.Runner.Results;

namespace Kit.Benchmarks;

/// <summary>What one contestant gave in one round.</summary>
/// <param name="Outcome">Whether every message has its row, once.</param>
/// <param name="Offsets">Milliseconds of each commit of a widget, ascending; where they start is of no matter.</param>
/// <param name="OwnPerSecond">Messages per second by the contestant's own account, if it gives one.</param>
/// <param name="OwnCpu">CPU time of this process during the drain; <see langword="null"/> where it was not taken.</param>
/// <param name="Costs">Per message.</param>
/// <param name="OthersShare">What other processes took of the machine, 0 to 1; <see langword="null"/> where it cannot be told.</param>
internal sealed record ContestResult(
    RoundOutcome Outcome, IReadOnlyList<double> Offsets, double? OwnPerSecond, TimeSpan? OwnCpu, MessageCosts Costs, double? OthersShare)
{
    private static readonly Reading NotReached = Reading.Missing("the round did not come that far");

    /// <summary>From the first commit to the last; <see langword="null"/> where no time lies between.</summary>
    public double? Seconds => Offsets.Count > 1 && Offsets[^1] > Offsets[0] ? (Offsets[^1] - Offsets[0]) / 1_000 : null;

    /// <summary>
    /// Commits per second between the first and the last, the same for every contestant and by the server's clock alone;
    /// <see langword="null"/> for a round that does not count.
    /// </summary>
    public double? PerSecond => Outcome.IsValid() ? (Offsets.Count - 1) / Seconds : null;

    /// <summary>A round of the runner.</summary>
    public static ContestResult Of(RoundDocument round) => new(
        round.Outcome, round.OffsetsMilliseconds, round.Throughput.AveragePerSecond, OwnCpu: null, round.Costs, round.Noise.OtherCpuShare.Value);

    public static ContestResult Failed(string because) => new(
        RoundOutcome.Error(because), [], null, null, new MessageCosts(NotReached, NotReached, NotReached, NotReached, NotReached, NotReached), null);
}
