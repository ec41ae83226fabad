using Npgsql;

namespace Kit.Endpoints.Bare.PostgreSql;

public static class BareEndpointBuilderExtensions
{
    /// <summary>Queues in PostgreSQL: each a table, and one of messages that failed.</summary>
    /// <param name="endpoint">The endpoint.</param>
    /// <param name="queueConnectionString">The database that holds the queue and its error table.</param>
    /// <param name="dataConnectionString">The database that handlers open; the queues' own when not given, which <c>shared</c> needs.</param>
    /// <exception cref="ArgumentException">A connection string cannot be read.</exception>
    public static BareEndpointBuilder UsePostgreSql(this BareEndpointBuilder endpoint, string queueConnectionString, string? dataConnectionString = null)
    {
        var queues = new NpgsqlConnectionStringBuilder(queueConnectionString);
        var data = new NpgsqlConnectionStringBuilder(dataConnectionString ?? queueConnectionString);
        return endpoint.UseTransport((pipeline, log) => new PostgreSqlEndpoint(endpoint, queues, data, pipeline, log));
    }
}
