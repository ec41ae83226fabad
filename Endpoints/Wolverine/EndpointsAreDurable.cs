using Wolverine.Configuration;
using Wolverine.Runtime;

namespace Kit.Endpoints.Wolverine;

/// <summary>
/// Stores what is received and sent, on every transport, and also at endpoints that only a handler names, which Wolverine's
/// <c>UseDurableOutboxOnAllSendingEndpoints</c> leaves out. Otherwise a send is only in memory when the rows have committed. Refuses an endpoint that is set
/// otherwise.
/// </summary>
internal sealed class EndpointsAreDurable : IEndpointPolicy
{
    public void Apply(Endpoint endpoint, IWolverineRuntime runtime)
    {
        if (endpoint.Role != EndpointRole.Application)
            return;

        if (endpoint.SupportsMode(EndpointMode.Durable))
            endpoint.Mode = EndpointMode.Durable;
        _ = new Check(endpoint);
    }

    /// <summary>Wolverine applies it after policies, and after all that the application has set on the endpoint itself.</summary>
    private sealed class Check : DelayedEndpointConfiguration<Endpoint>
    {
        public Check(Endpoint endpoint)
            : base(endpoint) => add(Require);

        private static void Require(Endpoint endpoint)
        {
            if (endpoint.Mode == EndpointMode.Durable)
                return;

            throw new InvalidOperationException(
                $"{endpoint.Uri} is {endpoint.Mode}. Expected Durable: in outbox what is sent is stored with the rows, and what is received in the inbox. " +
                "Remove BufferedInMemory, ProcessInline, SendInline or the like, or use a transport that can be Durable.");
        }
    }
}
