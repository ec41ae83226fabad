using Kit.Endpoints.Bare.PostgreSql;
using Npgsql;

namespace Kit.Endpoints.Bare;

/// <summary>Puts the queues of an endpoint into PostgreSQL: each a table, and one of messages that failed.</summary>
public static class PostgreSqlBareEndpointBuilderExtensions
{
    /// <summary>
    /// Queues in PostgreSQL. The endpoint creates those that are missing when it starts, where its role may; a table that an earlier version of
    /// the kit made is refused, with the statement that upgrades it.
    /// </summary>
    /// <param name="endpoint">The endpoint.</param>
    /// <param name="queueConnectionString">The database that holds the queue and its error table.</param>
    /// <param name="dataConnectionString">The database that handlers open; the queues' own when not given, which <c>shared</c> needs.</param>
    /// <exception cref="ArgumentException">A connection string cannot be read.</exception>
    public static BareEndpointBuilder UsePostgreSql(this BareEndpointBuilder endpoint, string queueConnectionString, string? dataConnectionString = null)
    {
        var queue = new DatabaseAccess(queueConnectionString);
        return endpoint.UsePostgreSql(queue, dataConnectionString is null ? queue : new DatabaseAccess(dataConnectionString));
    }

    /// <summary>
    /// The same with data sources of the application's, which have its type mappings, credentials and logging. The endpoint uses them as they
    /// are and does not dispose them; its workers keep connections of them. <c>full-dtc</c> and <c>npgsql-scope</c> open connections in ways
    /// of their own and need connection strings.
    /// </summary>
    /// <param name="endpoint">The endpoint.</param>
    /// <param name="queues">The database that holds the queue and its error table.</param>
    /// <param name="data">The database that handlers open; the queues' own when not given, which <c>shared</c> needs.</param>
    /// <exception cref="ArgumentException">The queue's data source has no sessions of its own: Multiplexing, or No Reset On Close.</exception>
    public static BareEndpointBuilder UsePostgreSql(this BareEndpointBuilder endpoint, NpgsqlDataSource queues, NpgsqlDataSource? data = null)
    {
        var queue = new DatabaseAccess(queues).ForSessions(nameof(queues));
        return endpoint.UsePostgreSql(queue, data is null ? queue : new DatabaseAccess(data));
    }

    private static BareEndpointBuilder UsePostgreSql(this BareEndpointBuilder endpoint, DatabaseAccess queue, DatabaseAccess data)
    {
        ArgumentNullException.ThrowIfNull(endpoint);
        return endpoint.UseTransport(PostgreSqlEndpoint.MessagingSystem, (pipeline, log) => new PostgreSqlEndpoint(endpoint, queue, data, pipeline, log));
    }
}
