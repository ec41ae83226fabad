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
    private const string Expected =
        "Durable: in outbox what is sent is stored with the rows, and what is received in the inbox. Remove BufferedInMemory, ProcessInline, SendInline or " +
        "the like, or use a transport that can be Durable.";

    public void Apply(Endpoint endpoint, IWolverineRuntime runtime)
    {
        if (endpoint.Role != EndpointRole.Application)
            return;

        if (endpoint.SupportsMode(EndpointMode.Durable))
            endpoint.Mode = EndpointMode.Durable;
        _ = new RequiredMode(endpoint, one => one.Mode == EndpointMode.Durable, Expected);
    }
}
