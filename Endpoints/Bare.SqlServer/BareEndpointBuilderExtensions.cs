namespace Kit.Endpoints.Bare.SqlServer;

public static class BareEndpointBuilderExtensions
{
    /// <summary>Queues in SQL Server.</summary>
    /// <param name="endpoint">The endpoint.</param>
    /// <param name="queueConnectionString">The database that holds the queue and its error table.</param>
    /// <param name="dataConnectionString">
    /// The database that handlers open; the queues' own when not given. Where the two differ in anything, database or application name,
    /// <c>full-dtc</c> is promoted to a distributed transaction: Windows with MSDTC; elsewhere the endpoint refuses to start.
    /// </param>
    /// <exception cref="ArgumentException">A connection string cannot be read.</exception>
    public static BareEndpointBuilder UseSqlServer(this BareEndpointBuilder endpoint, string queueConnectionString, string? dataConnectionString = null)
    {
        var connections = new SqlServerConnections(queueConnectionString, dataConnectionString);
        return endpoint.UseTransport((pipeline, log) => new SqlServerEndpoint(endpoint, connections, pipeline, log));
    }
}
