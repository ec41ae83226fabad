using System.Diagnostics;
using System.Diagnostics.Metrics;
using Kit.Endpoints.Bare.Health;

namespace Kit.Endpoints.Bare.PostgreSql.TwoPhase;

/// <summary>Publishes how long rows stay invisible after the decision.</summary>
public static class SecondPhaseLag
{
    /// <summary>
    /// A histogram of <see cref="EndpointMeter"/>: seconds from the decision's commit to the end of the branch's second phase. On NServiceBus they start
    /// a moment later: when the transport closes the receive's connection.
    /// </summary>
    public const string InstrumentName = "kit.second_phase.duration";

    private static readonly Histogram<double> Lag = EndpointMeter.Meter.CreateHistogram<double>(
        InstrumentName, "s", "From the commit of the receive to the end of the prepared branch. Until then nobody sees the handler's rows.");

    /// <param name="decided">When the decision had committed, as returned by <see cref="Stopwatch.GetTimestamp"/>.</param>
    internal static void Record(long decided) => Lag.Record(Stopwatch.GetElapsedTime(decided).TotalSeconds);
}
