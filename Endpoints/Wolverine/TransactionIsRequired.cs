using System.Reflection;
using JasperFx;
using JasperFx.CodeGeneration;
using JasperFx.CodeGeneration.Frames;
using Microsoft.EntityFrameworkCore;
using Wolverine.Attributes;
using Wolverine.Configuration;
using Wolverine.Runtime.Handlers;

namespace Kit.Endpoints.Wolverine;

/// <summary>
/// Fails the start if a handler is not in Wolverine's transaction. It would really be in <c>scope-off</c>: its rows commit alone, once for each attempt.
/// </summary>
internal sealed class TransactionIsRequired : IHandlerPolicy
{
    /// <summary>The frames that begin a transaction in the code that Wolverine generates: for one database, and for one of each tenant.</summary>
    /// <remarks>They are internal.</remarks>
    private static readonly string[] Begins = ["EnrollDbContextInTransaction", "StartDatabaseTransactionForDbContext"];

    public void Apply(IReadOnlyList<HandlerChain> chains, GenerationRules rules, IServiceContainer container)
    {
        foreach (var chain in chains)
        {
            if (ReasonAgainst(chain) is { } reason)
                throw new InvalidOperationException(reason);
        }
    }

    private static string? ReasonAgainst(HandlerChain chain) => chain switch
    {
        // Wolverine reads it later, and nothing can be checked here.
        _ when chain.HasAttribute<TransactionalAttribute>() =>
            $"The handler of {chain.MessageType.Name} has a [Transactional] of its own. Remove it: in outbox UseTransactionMode sets the transaction of " +
            "every handler.",
        { IsTransactional: false } =>
            $"No handler of {chain.MessageType.Name} takes a DbContext, although in outbox its work belongs into the context's transaction. " +
            "Register one with AddDbContextWithWolverineIntegration, and take it as an argument of the handler.",
        // Wolverine calls all handlers of a message in one chain, and one context makes the chain transactional.
        { Handlers.Count: > 1 } when chain.Handlers.FirstOrDefault(call => !TakesContext(call)) is { } apart =>
            $"{apart.HandlerType.Name} takes no DbContext, although another handler of {chain.MessageType.Name} does: in outbox its work belongs into the " +
            "context's transaction, too. Take the context as an argument of each handler, or of its constructor.",
        _ when !chain.Middleware.Any(frame => Begins.Contains(frame.GetType().Name)) =>
            $"Wolverine begins no transaction around the handler of {chain.MessageType.Name}, although in outbox its work belongs into one. " +
            "Expected TransactionMiddlewareMode.Eager, which is the default of UseEntityFrameworkCoreTransactions; found Lightweight.",
        _ => null,
    };

    private static bool TakesContext(MethodCall handler) => handler.HandlerType.GetConstructors().Append<MethodBase>(handler.Method)
        .SelectMany(method => method.GetParameters())
        .Any(parameter => parameter.ParameterType.IsAssignableTo(typeof(DbContext)));
}
