using System.Diagnostics;
using System.Diagnostics.Metrics;

namespace Kit.Endpoints.Bare.TwoPhase;

/// <summary>Publishes how long rows stayed invisible after the decision.</summary>
public static class SecondPhaseLag
{
    public const string MeterName = "Kit.Endpoints.Bare";

    /// <summary>Histogram in milliseconds, from the decision's commit to the end of the branch's second phase.</summary>
    public const string InstrumentName = "kit.second_phase.lag";

    private static readonly Meter Meter = new(MeterName);
    private static readonly Histogram<double> Lag = Meter.CreateHistogram<double>(InstrumentName, "ms");

    internal static void Record(PreparedBranch branch) => Lag.Record(Stopwatch.GetElapsedTime(branch.Decided).TotalMilliseconds);
}
