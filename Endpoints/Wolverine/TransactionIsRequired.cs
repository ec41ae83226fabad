using JasperFx;
using JasperFx.CodeGeneration;
using Wolverine.Configuration;
using Wolverine.Runtime.Handlers;

namespace Kit.Endpoints.Wolverine;

/// <summary>
/// Fails the start if a handler is not in Wolverine's transaction. It would really be in <c>scope-off</c>: its rows commit alone, once for each attempt.
/// </summary>
internal sealed class TransactionIsRequired : IHandlerPolicy
{
    public void Apply(IReadOnlyList<HandlerChain> chains, GenerationRules rules, IServiceContainer container)
    {
        if (chains.FirstOrDefault(chain => !chain.IsTransactional) is { } outside)
        {
            throw new InvalidOperationException(
                $"No handler of {outside.MessageType.Name} takes a DbContext, although in outbox its work belongs into the context's transaction. " +
                "Register one with AddDbContextWithWolverineIntegration, and take it as an argument of the handler.");
        }
    }
}
