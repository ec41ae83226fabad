using System.Diagnostics;
using System.Diagnostics.Metrics;
using Kit.Endpoints.Bare.Health;

namespace Kit.Endpoints.Bare.PostgreSql.TwoPhase;

/// <summary>Publishes how long rows stayed invisible after the decision.</summary>
public static class SecondPhaseLag
{
    /// <summary>Of <see cref="EndpointMeter"/>: histogram in milliseconds, from the decision's commit to the end of the branch's second phase.</summary>
    public const string InstrumentName = "kit.second_phase.lag";

    private static readonly Meter Meter = new(EndpointMeter.Name);
    private static readonly Histogram<double> Lag = Meter.CreateHistogram<double>(InstrumentName, "ms");

    internal static void Record(PreparedBranch branch) => Lag.Record(Stopwatch.GetElapsedTime(branch.Decided).TotalMilliseconds);
}
