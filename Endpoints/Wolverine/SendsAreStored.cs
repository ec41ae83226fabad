using Wolverine.Configuration;
using Wolverine.RabbitMQ.Internal;
using Wolverine.Runtime;

namespace Kit.Endpoints.Wolverine;

/// <summary>
/// Stores what is sent to RabbitMQ in the outbox. Wolverine's <c>UseDurableOutboxOnAllSendingEndpoints</c> leaves out the queues that only a handler names.
/// </summary>
internal sealed class SendsAreStored : IEndpointPolicy
{
    public void Apply(Endpoint endpoint, IWolverineRuntime runtime)
    {
        if (endpoint is RabbitMqEndpoint { Role: EndpointRole.Application })
            endpoint.Mode = EndpointMode.Durable;
    }
}
