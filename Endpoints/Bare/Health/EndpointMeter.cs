using System.Diagnostics;
using System.Diagnostics.Metrics;

namespace Kit.Endpoints.Bare.Health;

/// <summary>
/// The meter and the source of activities of all endpoints on bare drivers. Names and tags are those of OpenTelemetry's semantic conventions for
/// messaging (https://opentelemetry.io/docs/specs/semconv/messaging/); what they have no name for begins with <c>kit.</c>.
/// </summary>
public static class EndpointMeter
{
    /// <summary>As <c>dotnet-counters</c>, and OpenTelemetry's <c>AddMeter</c> and <c>AddSource</c>, take it.</summary>
    public const string Name = "Kit.Endpoints.Bare";

    /// <summary>The boundaries, in seconds, that the conventions ask for.</summary>
    private static readonly InstrumentAdvice<double> Buckets = new()
    {
        HistogramBucketBoundaries = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10],
    };

    internal static ActivitySource Activities { get; } = new(Name);

    internal static Meter Meter { get; } = new(Name);

    /// <summary>Tagged as receive or settle.</summary>
    internal static Histogram<double> OperationDuration { get; } = Meter.CreateHistogram(
        "messaging.client.operation.duration", "s", "Duration of receiving a message, and of what follows its handler.", tags: null, Buckets);

    internal static Histogram<double> ProcessDuration { get; } = Meter.CreateHistogram(
        "messaging.process.duration", "s", "Duration of one attempt at a message, from the handler's call to its return.", tags: null, Buckets);

    internal static Counter<long> RecoveredBranches { get; } = Meter.CreateCounter<long>(
        "kit.branches.recovered", "{branch}", "Prepared branches that recovery ended by the decision of their receive, in full-dtc.");

    internal static Counter<long> Consumed { get; } = Meter.CreateCounter<long>(
        "messaging.client.consumed.messages", "{message}", "Messages that were received, once for each attempt.");
}
