using Kit.Modes;
using NServiceBus;
using NServiceBus.Transport;

namespace Kit.Endpoints.NServiceBus;

/// <summary>
/// Configures the transactions that a transport opens, for a mode. Only transports with an entry here are supported: nobody has tried what another
/// one does in a mode.
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
        // It opens no scope, but its native transaction uses the scope's isolation level.
        [typeof(PostgreSqlTransport)] = (transport, settings) => ((PostgreSqlTransport)transport).TransactionScope.IsolationLevel = settings.ScopeIsolation,
        [typeof(RabbitMQTransport)] = (_, _) => { },
        [typeof(LearningTransport)] = (_, _) => { },
    };

    public static Support Of(TransportDefinition transport) => transport is ITransactionModeTransport || Known.ContainsKey(transport.GetType())
        ? Support.Yes
        : Support.No($"{transport.GetType().Name} was not tried. Known transports: {string.Join(", ", Known.Keys.Select(known => known.Name))}");

    /// <summary>Sets their isolation level, and their time-out if they have one.</summary>
    public static void Set(TransportDefinition transport, TransactionSettings settings)
    {
        if (transport is ITransactionModeTransport own)
            own.Use(settings);
        else
            Known[transport.GetType()](transport, settings);
    }
}
