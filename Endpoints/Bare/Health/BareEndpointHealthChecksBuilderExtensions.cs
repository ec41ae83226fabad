using Kit.Endpoints.Bare.Health;
using Microsoft.Extensions.Diagnostics.HealthChecks;

namespace Microsoft.Extensions.DependencyInjection;

/// <summary>Health checks of bare endpoints.</summary>
public static class BareEndpointHealthChecksBuilderExtensions
{
    private static readonly TimeSpan DefaultPatience = TimeSpan.FromMinutes(1);

    /// <summary>
    /// Adds a health check for an endpoint that <c>AddBareEndpoint</c> added. It is unhealthy if no worker has got an answer from its queue for
    /// longer than <paramref name="patience"/>, or if its two databases are found not to belong together. It is degraded if recovery could not end
    /// some prepared branches, if a participant was removed where some can be, if messages have waited in the outbox for longer than
    /// <paramref name="patience"/>, or if a server was changed so that the endpoint would not start any more.
    /// </summary>
    /// <param name="checks">The builder to add it to.</param>
    /// <param name="endpoint">The name of the endpoint and of the check.</param>
    /// <param name="patience">
    /// The longest wait that counts as healthy; by default 1 minute. It must be longer than the slowest handler, because the check cannot
    /// distinguish a busy handler from a queue that does not answer.
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
