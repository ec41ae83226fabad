using System.Reflection;
using JasperFx;
using JasperFx.CodeGeneration;
using JasperFx.CodeGeneration.Frames;
using Microsoft.EntityFrameworkCore;
using Microsoft.Extensions.DependencyInjection;
using Npgsql;
using Wolverine;
using Wolverine.Attributes;
using Wolverine.Configuration;
using Wolverine.EntityFrameworkCore.Internals;
using Wolverine.Runtime.Handlers;

namespace Kit.Endpoints.Wolverine;

/// <summary>
/// Fails the start if a handler is not in Wolverine's transaction. It would really be in <c>scope-off</c>: its rows commit alone, once for each attempt.
/// </summary>
/// <param name="wolverine">The endpoint's options.</param>
/// <param name="store">The database with the inbox.</param>
internal sealed class TransactionIsRequired(WolverineOptions wolverine, string store) : IHandlerPolicy
{
    /// <summary>The frames that begin a transaction in the code that Wolverine generates: for one database, and for one of each tenant.</summary>
    /// <remarks>They are internal.</remarks>
    private const string BeginsInOne = "EnrollDbContextInTransaction";
    private const string BeginsInEach = "StartDatabaseTransactionForDbContext";

    private const string Place = "SELECT concat(system_identifier, '/', oid) FROM pg_control_system(), pg_database WHERE datname = current_database()";

    public void Apply(IReadOnlyList<HandlerChain> chains, GenerationRules rules, IServiceContainer container)
    {
        var all = new HashSet<Type>();
        // Where the handlers of a message are separated, each is in a chain of its own, and theirs has none.
        foreach (var chain in chains.Where(chain => chain.Handlers.Count > 0 || chain.ByEndpoint.Count == 0))
        {
            var contexts = chain.ServiceDependencies(container, Type.EmptyTypes).Where(type => type.IsAssignableTo(typeof(DbContext))).Distinct().ToList();
            if ((ReasonAgainst(chain, contexts) ?? ReasonAgainstCode(chain, rules)) is { } reason)
                throw new InvalidOperationException(reason);
            if (Begins(chain, BeginsInOne))
                all.UnionWith(contexts);
        }

        // Neither a tool that writes code nor one that describes the application needs a database.
        if (!DynamicCodeBuilder.WithinCodegenCommand && wolverine.Durability.Mode != DurabilityMode.MediatorOnly && all.Count > 0)
            RequireOneDatabase(all, container.Services);
    }

    private static string? ReasonAgainst(HandlerChain chain, List<Type> contexts) => chain switch
    {
        _ when contexts.Count > 1 =>
            $"The handlers of {chain.MessageType.Name} take {string.Join(" and ", contexts.Select(context => context.Name))}. Expected one context: in " +
            "outbox Wolverine commits that of one, and what is saved in another commits alone, once for each attempt. Give each context a message of its own.",
        // Wolverine reads it later, and nothing can be checked here.
        _ when chain.HasAttribute<TransactionalAttribute>() =>
            $"The handler of {chain.MessageType.Name} has a [Transactional] of its own. Remove it: in outbox UseTransactionMode sets the transaction of " +
            "every handler.",
        _ when chain.HasAttribute<NonTransactionalAttribute>() =>
            $"The handler of {chain.MessageType.Name} has [NonTransactional], although in outbox its work belongs into the context's transaction. Remove it.",
        { IsTransactional: false } =>
            $"No handler of {chain.MessageType.Name} takes a DbContext, although in outbox its work belongs into the context's transaction. " +
            "Register one with AddDbContextWithWolverineIntegration, and take it as an argument of the handler.",
        // Wolverine calls all handlers of a message in one chain, and one context makes the chain transactional.
        { Handlers.Count: > 1 } when chain.Handlers.FirstOrDefault(call => !TakesContext(call)) is { } apart =>
            $"{apart.HandlerType.Name} takes no DbContext, although another handler of {chain.MessageType.Name} does: in outbox its work belongs into the " +
            "context's transaction, too. Take the context as an argument of each handler, or of its constructor.",
        _ when !Begins(chain, BeginsInOne) && !Begins(chain, BeginsInEach) =>
            $"Wolverine begins no transaction around the handler of {chain.MessageType.Name}, although in outbox its work belongs into one. " +
            "Expected TransactionMiddlewareMode.Eager, which is the default of UseEntityFrameworkCoreTransactions; found Lightweight.",
        _ => null,
    };

    /// <summary>Wolverine runs code that was written before, and does not compare it with the chain.</summary>
    private static string? ReasonAgainstCode(HandlerChain chain, GenerationRules rules)
    {
        if (rules.TypeLoadMode == TypeLoadMode.Dynamic || DynamicCodeBuilder.WithinCodegenCommand || !Begins(chain, BeginsInOne))
            return null;

        var written = rules.ApplicationAssembly?.ExportedTypes.FirstOrDefault(type => type.Name == chain.TypeName);
        // The transaction lives across awaits, so it is a field of the method's state machine.
        var begins = written?.GetNestedTypes(BindingFlags.NonPublic)
            .SelectMany(machine => machine.GetFields(BindingFlags.Instance | BindingFlags.Public | BindingFlags.NonPublic))
            .Any(field => field.FieldType == typeof(EfCoreEnvelopeTransaction));
        return begins != false ? null
            : $"The code that was written for the handler of {chain.MessageType.Name} has no transaction, although in outbox its work belongs into one. " +
                "Run codegen write again, with the mode in which the application runs.";
    }

    private static bool Begins(HandlerChain chain, string frame) => chain.Middleware.Any(one => one.GetType().Name == frame);

    private void RequireOneDatabase(IEnumerable<Type> contexts, IServiceProvider services)
    {
        using var scope = services.CreateScope();
        using var inbox = new NpgsqlConnection(new NpgsqlConnectionStringBuilder(store) { Pooling = false }.ConnectionString);
        inbox.Open();
        var expected = PlaceOf(inbox);
        foreach (var type in contexts)
        {
            if (scope.ServiceProvider.GetService(type) is not DbContext context)
                continue;

            context.Database.OpenConnection();
            if (context.Database.GetDbConnection() is not NpgsqlConnection connection || PlaceOf(connection) != expected)
            {
                throw new InvalidOperationException(
                    $"{type.Name} is on another database than Wolverine's inbox, {inbox.Database}. Expected one database: in outbox the rows commit together " +
                    "with the message's mark in the inbox. Give both the same connection string.");
            }

            context.Database.CloseConnection();
        }
    }

    private static string PlaceOf(NpgsqlConnection connection)
    {
        using var command = new NpgsqlCommand(Place, connection);
        return (string)command.ExecuteScalar()!;
    }

    private static bool TakesContext(MethodCall handler) => handler.HandlerType.GetConstructors().Append<MethodBase>(handler.Method)
        .SelectMany(method => method.GetParameters())
        .Any(parameter => parameter.ParameterType.IsAssignableTo(typeof(DbContext)));
}
