using Kit.Endpoints.Bare.PostgreSql;
using Npgsql;

namespace Kit.Endpoints.Bare;

/// <summary>Puts an endpoint's queue into PostgreSQL: one table for the queue, one for messages that failed.</summary>
public static class PostgreSqlBareEndpointBuilderExtensions
{
    /// <summary>
    /// Uses a queue in PostgreSQL. When the endpoint starts, it creates missing tables if its role is allowed to. If an earlier version of the kit
    /// created a table, the endpoint refuses to start and names the statement that upgrades it.
    /// </summary>
    /// <param name="endpoint">The endpoint.</param>
    /// <param name="queueConnectionString">The database that holds the queue and its error table.</param>
    /// <param name="dataConnectionString">The handlers' database; by default the queue's, which <c>shared</c> requires.</param>
    /// <exception cref="ArgumentException">A connection string cannot be read, or that of the queue shares sessions: Multiplexing.</exception>
    public static BareEndpointBuilder UsePostgreSql(this BareEndpointBuilder endpoint, string queueConnectionString, string? dataConnectionString = null)
    {
        var queue = new DatabaseAccess(queueConnectionString).ForSessions(nameof(queueConnectionString));
        return endpoint.UsePostgreSql(queue, dataConnectionString is null ? queue : new DatabaseAccess(dataConnectionString));
    }

    /// <summary>
    /// Uses a queue in PostgreSQL through the application's data sources, with their type mappings, credentials and logging. The endpoint uses
    /// them unchanged and does not dispose them; its workers hold some of their connections. <c>full-dtc</c> and <c>npgsql-scope</c> open
    /// connections themselves and need connection strings.
    /// </summary>
    /// <param name="endpoint">The endpoint.</param>
    /// <param name="queues">The database that holds the queue and its error table.</param>
    /// <param name="data">The handlers' database; by default the queue's, which <c>shared</c> requires.</param>
    /// <exception cref="ArgumentException">The queue's data source shares sessions or settings: Multiplexing, or No Reset On Close.</exception>
    public static BareEndpointBuilder UsePostgreSql(this BareEndpointBuilder endpoint, NpgsqlDataSource queues, NpgsqlDataSource? data = null)
    {
        var queue = new DatabaseAccess(queues).ForSessions(nameof(queues));
        return endpoint.UsePostgreSql(queue, data is null ? queue : new DatabaseAccess(data));
    }

    /// <summary>
    /// Lets <c>full-dtc</c> start with its queue and its handlers' data on two servers, although one of them sends its log to standbys that it does not wait
    /// for. If such a standby is promoted, it lacks the last commits and the other server has them: messages are lost or doubled. Call it if these
    /// standbys are never promoted.
    /// </summary>
    public static BareEndpointBuilder AcceptAsynchronousStandbys(this BareEndpointBuilder endpoint)
    {
        ArgumentNullException.ThrowIfNull(endpoint);
        endpoint.AcceptsAsynchronousStandbys = true;
        return endpoint;
    }

    private static BareEndpointBuilder UsePostgreSql(this BareEndpointBuilder endpoint, DatabaseAccess queue, DatabaseAccess data)
    {
        ArgumentNullException.ThrowIfNull(endpoint);
        return endpoint.UseTransport(PostgreSqlEndpoint.MessagingSystem, (pipeline, log) => new PostgreSqlEndpoint(endpoint, queue, data, pipeline, log));
    }
}
