using Wolverine.Configuration;

namespace Kit.Endpoints.Wolverine;

/// <summary>
/// Fails the start if an endpoint stores less than its transaction mode needs. Wolverine applies it after policies, and after all that the application has set
/// on the endpoint itself.
/// </summary>
internal sealed class RequiredMode : DelayedEndpointConfiguration<Endpoint>
{
    /// <param name="endpoint">The endpoint.</param>
    /// <param name="isKept">Whether it stores enough.</param>
    /// <param name="expected">What it should be, why, and what to do.</param>
    public RequiredMode(Endpoint endpoint, Predicate<Endpoint> isKept, string expected)
        : base(endpoint) => add(configured =>
    {
        if (!isKept(configured))
            throw new InvalidOperationException($"{configured.Uri} is {configured.Mode}. Expected {expected}");
    });
}
