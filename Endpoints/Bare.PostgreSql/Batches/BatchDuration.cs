using System.Diagnostics.Metrics;
using Kit.Endpoints.Bare.Health;

namespace Kit.Endpoints.Bare.PostgreSql.Batches;

/// <summary>Publishes how long messages wait in their batch.</summary>
public static class BatchDuration
{
    /// <summary>A histogram of <see cref="EndpointMeter"/>: seconds from the query that receives a batch to the batch's commit.</summary>
    public const string InstrumentName = "kit.batch.duration";

    private static readonly Histogram<double> Duration = EndpointMeter.Meter.CreateHistogram<double>(
        InstrumentName, "s", "From the query that receives a batch to its commit. Until then none of its messages has left the queue for good.");

    internal static void Record(TimeSpan took) => Duration.Record(took.TotalSeconds);
}
