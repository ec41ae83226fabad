using Kit.Modes;

namespace Kit.Endpoints.Bare.PostgreSql.Modes;

/// <summary>Whether a mode can keep its promise over connections that are opened as the application has said.</summary>
internal static class ConnectionCheck
{
    /// <exception cref="InvalidOperationException">It cannot. The message says what to change.</exception>
    public static void Require(BareEndpointBuilder endpoint, PostgreSqlMode mode, DatabaseAccess queue, DatabaseAccess data)
    {
        data.RequireNoEnlistment(endpoint);
        var isGiven = queue.IsGiven || data.IsGiven;
        if (isGiven && endpoint.Flush != LogFlush.Every)
        {
            throw new InvalidOperationException(
                $"Endpoint '{endpoint.Name}' cannot leave out flushes ('{endpoint.Flush}') on a data source: it sets each connection's options itself. " +
                "Give UsePostgreSql connection strings.");
        }

        if (isGiven && mode.OpensConnections)
        {
            throw new InvalidOperationException(
                $"Endpoint '{endpoint.Name}' cannot run in {endpoint.Mode} on a data source, because it must open and check each connection itself. " +
                "Pass connection strings to UsePostgreSql.");
        }

        // Handlers use the receive's own connection: another user or search path would be ignored silently.
        if (endpoint.Mode.NeedsOneDatabase && !queue.IsSameAs(data))
        {
            throw new InvalidOperationException(
                $"Endpoint '{endpoint.Name}' cannot run in {endpoint.Mode}: its queue and its handlers' data must be in one database, reached with one " +
                "connection string or data source. Pass only that one to UsePostgreSql, or use another mode.");
        }

        // With several servers, sends and the dispatcher could reach another one than the receive.
        if (endpoint.Flush != LogFlush.Every && !endpoint.Mode.NeedsOneDatabase && (queue.HasSeveralHosts || data.HasSeveralHosts))
        {
            throw new InvalidOperationException(
                $"Endpoint '{endpoint.Name}' cannot leave out flushes ('{endpoint.Flush}') with a list of hosts: its connections could meet different " +
                "servers, which have different logs. Name one host, or use 'every'.");
        }
    }
}
