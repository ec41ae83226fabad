using Kit.Modes;
using NServiceBus;
using NServiceBus.Transport;

namespace Kit.Endpoints.NServiceBus;

/// <summary>
/// The transactions that a transport opens by itself, as a mode wants them. A transport is known when it has an entry here; of another one nobody
/// could say what it does in a mode.
/// </summary>
internal static class TransportTransactions
{
    private static readonly Dictionary<Type, Action<TransportDefinition, TransactionSettings>> Known = new()
    {
        [typeof(SqlServerTransport)] = (transport, settings) =>
        {
            var scope = ((SqlServerTransport)transport).TransactionScope;
            scope.IsolationLevel = settings.ScopeIsolation;
            scope.Timeout = settings.Timeout;
        },
        // Its native transaction has the level of the scope that it never opens.
        [typeof(PostgreSqlTransport)] = (transport, settings) => ((PostgreSqlTransport)transport).TransactionScope.IsolationLevel = settings.ScopeIsolation,
        [typeof(RabbitMQTransport)] = (_, _) => { },
        [typeof(LearningTransport)] = (_, _) => { },
    };

    public static Support Of(TransportDefinition transport) => Known.ContainsKey(transport.GetType())
        ? Support.Yes
        : Support.No($"{transport.GetType().Name} was not tried. Known are {string.Join(", ", Known.Keys.Select(known => known.Name))}");

    /// <summary>Sets their isolation level, and their time-out where they have one.</summary>
    public static void Set(TransportDefinition transport, TransactionSettings settings) => Known[transport.GetType()](transport, settings);
}
