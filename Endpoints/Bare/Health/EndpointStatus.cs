using System.Diagnostics;
using System.Diagnostics.Metrics;

namespace Kit.Endpoints.Bare.Health;

/// <summary>What a running endpoint reports about itself: gauges of the meter <see cref="EndpointMeter.Name"/>, and its health check.</summary>
internal sealed class EndpointStatus : IDisposable
{
    private readonly Meter meter = new(EndpointMeter.Name);
    private long receivedAt;

    /// <param name="endpoint">The tag <c>endpoint</c> of each gauge.</param>
    public EndpointStatus(string endpoint)
    {
        var tags = new KeyValuePair<string, object?>[] { new("endpoint", endpoint) };
        meter.CreateObservableGauge(
            "kit.receive.age", () => Of(SinceReceive?.TotalSeconds, tags), "s", "Time since a worker last asked the queue and got an answer.");
        meter.CreateObservableGauge(
            "kit.branches.left", () => Of(Branches(), tags), "{branch}", "Prepared branches of the queue that recovery could not end, in full-dtc.");
        meter.CreateObservableGauge(
            "kit.outbox.waiting", () => Of(Outbox()?.Records, tags), "{message}", "Sent messages that wait in the outbox.");
        meter.CreateObservableGauge(
            "kit.outbox.age", () => Of(Outbox()?.OldestAge?.TotalSeconds, tags), "s", "Age of the oldest message in the outbox.");
    }

    /// <summary>Why the endpoint handles nothing until an operator has changed something; <see langword="null"/> if it does.</summary>
    public Func<string?> Refusal { get; set; } = () => null;

    /// <summary>What would refuse the endpoint's next start; <see langword="null"/> if nothing would.</summary>
    public Func<string?> Missing { get; set; } = () => null;

    /// <summary>Databases where branches can be that this process does not end; <see langword="null"/> if there are none.</summary>
    public Func<string?> Removed { get; set; } = () => null;

    /// <summary>How many branches an operator must end; <see langword="null"/> if the mode has no branches.</summary>
    public Func<int?> Branches { get; set; } = () => null;

    /// <summary>What waits in the outbox; <see langword="null"/> if the mode has no outbox.</summary>
    public Func<OutboxBacklog?> Outbox { get; set; } = () => null;

    /// <summary>The time since the queue last answered a worker, with or without a message; <see langword="null"/> before the first.</summary>
    public TimeSpan? SinceReceive => Volatile.Read(ref receivedAt) is > 0 and var at ? Stopwatch.GetElapsedTime(at) : null;

    /// <summary>A worker has asked the queue and got an answer.</summary>
    public void Received() => Volatile.Write(ref receivedAt, Stopwatch.GetTimestamp());

    public void Dispose() => meter.Dispose();

    private static IEnumerable<Measurement<double>> Of(double? value, KeyValuePair<string, object?>[] tags) =>
        value is { } known ? [new Measurement<double>(known, tags)] : [];
}
