using Kit.Endpoints.Bare.Health;
using Microsoft.Extensions.Diagnostics.HealthChecks;

namespace Microsoft.Extensions.DependencyInjection;

/// <summary>Health checks of bare endpoints.</summary>
public static class BareEndpointHealthChecksBuilderExtensions
{
    private static readonly TimeSpan DefaultPatience = TimeSpan.FromMinutes(1);

    /// <summary>
    /// Checks an endpoint that <c>AddBareEndpoint</c> added under that name: unhealthy when no worker has got an answer from its queue for a while,
    /// degraded when branches stay prepared that recovery could not end, or when messages have waited in the outbox for longer than that while.
    /// </summary>
    /// <param name="checks">Where it is added.</param>
    /// <param name="endpoint">The endpoint's name, and the check's.</param>
    /// <param name="patience">
    /// The while: 1 minute when not given. Longer than the slowest handler: one that works is not told from a queue that does not answer.
    /// </param>
    public static IHealthChecksBuilder AddBareEndpoint(this IHealthChecksBuilder checks, string endpoint, TimeSpan? patience = null)
    {
        ArgumentNullException.ThrowIfNull(checks);
        ArgumentException.ThrowIfNullOrWhiteSpace(endpoint);
        return checks.Add(new HealthCheckRegistration(
            endpoint,
            services => new EndpointHealthCheck(services.GetRequiredKeyedService<EndpointStatus>(endpoint), patience ?? DefaultPatience),
            failureStatus: null,
            tags: null));
    }
}
