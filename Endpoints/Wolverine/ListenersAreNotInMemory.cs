using Wolverine.Configuration;
using Wolverine.Runtime;

namespace Kit.Endpoints.Wolverine;

/// <summary>
/// Refuses a listener on the mode's transport that takes messages out of their queue before they are handled, and keeps them in memory: that is
/// <c>transactions-off</c>.
/// </summary>
/// <typeparam name="TQueue">A queue of the transport.</typeparam>
internal sealed class ListenersAreNotInMemory<TQueue> : IEndpointPolicy
    where TQueue : Endpoint
{
    private const string Expected =
        "Durable or Inline: in scope-off a message is in its queue or in the inbox until it is handled, and a crash would lose what is in memory. " +
        "Remove BufferedInMemory.";

    public void Apply(Endpoint endpoint, IWolverineRuntime runtime)
    {
        if (endpoint is TQueue { Role: EndpointRole.Application })
            _ = new RequiredMode(endpoint, one => !one.IsListener || one.Mode != EndpointMode.BufferedInMemory, Expected);
    }
}
