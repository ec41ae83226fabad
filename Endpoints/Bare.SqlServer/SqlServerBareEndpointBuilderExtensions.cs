using Kit.Endpoints.Bare.SqlServer;

namespace Kit.Endpoints.Bare;

/// <summary>Puts an endpoint's queue into SQL Server.</summary>
public static class SqlServerBareEndpointBuilderExtensions
{
    /// <summary>
    /// Uses a queue in SQL Server. When the endpoint starts, it creates missing tables if its login is allowed to. If an earlier version of the kit
    /// created a table, the endpoint refuses to start and names the statement that upgrades it.
    /// </summary>
    /// <param name="endpoint">The endpoint.</param>
    /// <param name="queueConnectionString">The database that holds the queue and its error table.</param>
    /// <param name="dataConnectionString">
    /// The handlers' database; by default the queue's. If the two strings differ in anything, such as database or application name, <c>full-dtc</c>
    /// is promoted to a distributed transaction. That needs Windows with MSDTC; elsewhere the endpoint refuses to start.
    /// </param>
    /// <exception cref="ArgumentException">A connection string cannot be read.</exception>
    public static BareEndpointBuilder UseSqlServer(this BareEndpointBuilder endpoint, string queueConnectionString, string? dataConnectionString = null)
    {
        ArgumentNullException.ThrowIfNull(endpoint);
        var connections = new SqlServerConnections(queueConnectionString, dataConnectionString);
        return endpoint.UseTransport(SqlServerEndpoint.MessagingSystem, (pipeline, log) => new SqlServerEndpoint(endpoint, connections, pipeline, log));
    }
}
