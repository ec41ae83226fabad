using Kit.Endpoints.Bare.Health;
using Microsoft.Extensions.Diagnostics.HealthChecks;
using NServiceBus;

namespace Microsoft.Extensions.DependencyInjection;

/// <summary>Health checks of endpoints on a <see cref="TwoPhasePostgreSqlTransport"/>.</summary>
public static class TwoPhaseTransportHealthChecksBuilderExtensions
{
    /// <summary>
    /// Adds a health check for the two-phase commit of an endpoint. It is unhealthy if the endpoint's databases are found not to belong together, and degraded
    /// if recovery could not end some prepared branches, or if a server was changed so that the endpoint would not start any more.
    /// </summary>
    /// <param name="checks">The builder to add it to.</param>
    /// <param name="name">The name of the check.</param>
    /// <param name="transport">The endpoint's transport.</param>
    public static IHealthChecksBuilder AddTwoPhaseTransport(this IHealthChecksBuilder checks, string name, TwoPhasePostgreSqlTransport transport)
    {
        ArgumentNullException.ThrowIfNull(checks);
        ArgumentException.ThrowIfNullOrWhiteSpace(name);
        ArgumentNullException.ThrowIfNull(transport);
        return checks.Add(new HealthCheckRegistration(name, new Check(transport), failureStatus: null, tags: null));
    }

    private sealed class Check(TwoPhasePostgreSqlTransport transport) : IHealthCheck
    {
        public Task<HealthCheckResult> CheckHealthAsync(HealthCheckContext context, CancellationToken cancellationToken = default)
        {
            var failure = context.Registration.FailureStatus;
            var found = transport.Statuses.Select(status => EndpointHealthCheck.InTwoPhases(status, failure)).OfType<HealthCheckResult>();
            return Task.FromResult(
                transport.Statuses.IsEmpty ? new HealthCheckResult(failure, "The endpoint has not started.")
                : found.OrderBy(one => one.Status).FirstOrDefault(HealthCheckResult.Healthy()));
        }
    }
}
