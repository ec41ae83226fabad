using Kit.Endpoints.Bare.SqlServer;

namespace Kit.Endpoints.Bare;

/// <summary>Puts the queues of an endpoint into SQL Server.</summary>
public static class SqlServerBareEndpointBuilderExtensions
{
    /// <summary>
    /// Queues in SQL Server. The endpoint creates those that are missing when it starts, where its role may; a table that an earlier version of
    /// the kit made is refused, with the statement that upgrades it.
    /// </summary>
    /// <param name="endpoint">The endpoint.</param>
    /// <param name="queueConnectionString">The database that holds the queue and its error table.</param>
    /// <param name="dataConnectionString">
    /// The database that handlers open; the queues' own when not given. Where the two differ in anything, database or application name,
    /// <c>full-dtc</c> is promoted to a distributed transaction: Windows with MSDTC; elsewhere the endpoint refuses to start.
    /// </param>
    /// <exception cref="ArgumentException">A connection string cannot be read.</exception>
    public static BareEndpointBuilder UseSqlServer(this BareEndpointBuilder endpoint, string queueConnectionString, string? dataConnectionString = null)
    {
        ArgumentNullException.ThrowIfNull(endpoint);
        var connections = new SqlServerConnections(queueConnectionString, dataConnectionString);
        return endpoint.UseTransport(SqlServerEndpoint.MessagingSystem, (pipeline, log) => new SqlServerEndpoint(endpoint, connections, pipeline, log));
    }
}
