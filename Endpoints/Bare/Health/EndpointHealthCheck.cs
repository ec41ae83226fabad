using Microsoft.Extensions.Diagnostics.HealthChecks;

namespace Kit.Endpoints.Bare.Health;

/// <summary>
/// Unhealthy if no worker has got an answer from its queue for longer than the patience, or if the endpoint refuses to handle. Degraded if something waits for
/// an operator: branches that recovery could not end, messages that have waited in the outbox for longer than the patience, or a server that would refuse the
/// next start.
/// </summary>
internal sealed class EndpointHealthCheck(EndpointStatus status, TimeSpan patience) : IHealthCheck
{
    public Task<HealthCheckResult> CheckHealthAsync(HealthCheckContext context, CancellationToken cancellationToken = default) =>
        Task.FromResult(Check(context.Registration.FailureStatus));

    /// <summary>What two-phase commit reports; <see langword="null"/> if all is well.</summary>
    public static HealthCheckResult? InTwoPhases(EndpointStatus status, HealthStatus failure) =>
        status.Refusal() is { } refusal ? new HealthCheckResult(failure, refusal)
        : status.Missing() is { } missing ? HealthCheckResult.Degraded($"The endpoint would not start {missing}.")
        : status.Removed() is { } removed ? HealthCheckResult.Degraded(removed)
        : status.Branches() is > 0 and var branches
            ? HealthCheckResult.Degraded($"{branches} branches stay prepared and hold their locks: see the command 'branches' and recovery's log.")
        : null;

    private HealthCheckResult Check(HealthStatus failure)
    {
        if (status.SinceReceive is not { } age)
            return new HealthCheckResult(failure, "No worker has got an answer from the queue yet.");
        if (age > patience)
            return new HealthCheckResult(failure, $"No worker has got an answer from the queue for {age.TotalSeconds:F0} s, or the handlers take that long.");
        if (InTwoPhases(status, failure) is { } found)
            return found;
        if (status.Outbox() is { OldestAge: { } oldest } backlog && oldest > patience)
            return HealthCheckResult.Degraded(
                $"{backlog.Records} messages wait in the outbox, the oldest for {oldest.TotalSeconds:F0} s: the log names their queues.");

        return HealthCheckResult.Healthy();
    }
}
