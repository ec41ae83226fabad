using Kit.Runner.Results;

namespace Kit.Benchmarks.Floor;

/// <summary>The result of one contestant in one round.</summary>
/// <param name="Outcome">Whether every message has its row, once.</param>
/// <param name="Offsets">Milliseconds of each commit of a widget, ascending; their origin does not matter.</param>
/// <param name="OwnPerSecond">Messages per second as the contestant itself reports them, if it does.</param>
/// <param name="Costs">Per message.</param>
/// <param name="OthersShare">The other processes' share of the machine, 0 to 1; <see langword="null"/> if it is unknown.</param>
internal sealed record ContestResult(
    RoundOutcome Outcome, IReadOnlyList<double> Offsets, double? OwnPerSecond, MessageCosts Costs, double? OthersShare)
{
    private static readonly Reading NotReached = Reading.Missing("the round did not get that far");

    /// <summary>From the first commit to the last; <see langword="null"/> if there is no time between them.</summary>
    public double? Seconds => Offsets.Count > 1 && Offsets[^1] > Offsets[0] ? (Offsets[^1] - Offsets[0]) / 1_000 : null;

    /// <summary>
    /// Commits per second between the first and the last, the same for every contestant and by the server's clock alone;
    /// <see langword="null"/> for a round that does not count.
    /// </summary>
    public double? PerSecond => Outcome.IsValid() ? (Offsets.Count - 1) / Seconds : null;

    /// <summary>A round of the runner.</summary>
    public static ContestResult Of(RoundDocument round) => new(
        round.Outcome, round.OffsetsMilliseconds, round.Throughput.AveragePerSecond, round.Costs, round.Noise.OtherCpuShare.Value);

    public static ContestResult Failed(string because) => new(
        RoundOutcome.Error(because), [], null, new MessageCosts(NotReached, NotReached, NotReached, NotReached, NotReached, NotReached), null);
}
