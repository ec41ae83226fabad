using System.Diagnostics;
using System.Diagnostics.Metrics;

namespace Kit.Endpoints.Bare.Health;

/// <summary>
/// The meter and the activity source of all bare endpoints. Names and tags follow OpenTelemetry's semantic conventions for messaging
/// (https://opentelemetry.io/docs/specs/semconv/messaging/). Names that the conventions lack begin with <c>kit.</c>.
/// </summary>
public static class EndpointMeter
{
    /// <summary>The name for <c>dotnet-counters</c> and for OpenTelemetry's <c>AddMeter</c> and <c>AddSource</c>.</summary>
    public const string Name = "Kit.Endpoints.Bare";

    /// <summary>The name of a histogram, in seconds: receiving a message, and settling it after its handler.</summary>
    public const string OperationDurationName = "messaging.client.operation.duration";

    /// <summary>The name of a histogram, in seconds: one attempt at a message, from the handler's call to its return.</summary>
    public const string ProcessDurationName = "messaging.process.duration";

    /// <summary>The name of a histogram: seconds from the query that receives a batch to the batch's commit.</summary>
    public const string BatchDurationName = "kit.batch.duration";

    /// <summary>The boundaries that the conventions recommend, in seconds.</summary>
    private static readonly InstrumentAdvice<double> Buckets = new()
    {
        HistogramBucketBoundaries = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10],
    };

    internal static ActivitySource Activities { get; } = new(Name);

    internal static Meter Meter { get; } = new(Name);

    /// <summary>Tagged as receive or settle.</summary>
    internal static Histogram<double> OperationDuration { get; } = Meter.CreateHistogram(
        OperationDurationName, "s", "Duration of receiving a message, and of settling it after its handler.", tags: null, Buckets);

    internal static Histogram<double> ProcessDuration { get; } = Meter.CreateHistogram(
        ProcessDurationName, "s", "Duration of one attempt at a message, from the handler's call to its return.", tags: null, Buckets);

    internal static Histogram<double> BatchDuration { get; } = Meter.CreateHistogram<double>(
        BatchDurationName, "s", "From the query that receives a batch to its commit. Until then none of its messages has left the queue for good.");

    internal static Counter<long> RecoveredBranches { get; } = Meter.CreateCounter<long>(
        "kit.branches.recovered", "{branch}", "Prepared branches that recovery ended according to their receive's decision, in full-dtc.");

    internal static Counter<long> Consumed { get; } = Meter.CreateCounter<long>(
        "messaging.client.consumed.messages", "{message}", "Messages received, counted once for each attempt.");
}
