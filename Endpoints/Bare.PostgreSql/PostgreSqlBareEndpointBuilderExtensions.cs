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
    /// <exception cref="ArgumentException">A connection string cannot be read, or shares sessions: Multiplexing.</exception>
    public static BareEndpointBuilder UsePostgreSql(this BareEndpointBuilder endpoint, string queueConnectionString, string? dataConnectionString = null)
    {
        var queue = new DatabaseAccess(queueConnectionString).ForQueue(nameof(queueConnectionString));
        return endpoint.UsePostgreSql(
            queue, dataConnectionString is null ? queue : new DatabaseAccess(dataConnectionString).ForSessions(nameof(dataConnectionString)));
    }

    /// <summary>
    /// Uses a queue in PostgreSQL through the application's data sources, with their type mappings, credentials and logging. The endpoint uses
    /// them unchanged and does not dispose them; its workers hold some of their connections. <c>full-dtc</c> and <c>npgsql-scope</c> open
    /// connections themselves and need connection strings.
    /// </summary>
    /// <param name="endpoint">The endpoint.</param>
    /// <param name="queues">The database that holds the queue and its error table.</param>
    /// <param name="data">The handlers' database; by default the queue's, which <c>shared</c> requires.</param>
    /// <exception cref="ArgumentException">A data source shares sessions: Multiplexing; or the queue's shares settings: No Reset On Close.</exception>
    public static BareEndpointBuilder UsePostgreSql(this BareEndpointBuilder endpoint, NpgsqlDataSource queues, NpgsqlDataSource? data = null)
    {
        var queue = new DatabaseAccess(queues).ForQueue(nameof(queues));
        return endpoint.UsePostgreSql(queue, data is null ? queue : new DatabaseAccess(data).ForSessions(nameof(data)));
    }

    /// <summary>
    /// Adds a further database of the handlers, on any PostgreSQL server: <c>context.GetConnectionAsync(name, …)</c>. In <c>full-dtc</c> what they write there
    /// commits with the receive and the rest of their work; the endpoint refuses to start in another mode, or in batches.
    /// </summary>
    /// <param name="endpoint">The endpoint.</param>
    /// <param name="name">What handlers call it: 1 to 30 characters of a to z, 0 to 9 and '-'. Branches in it have the name.</param>
    /// <param name="connectionString">How it is reached.</param>
    /// <exception cref="ArgumentException">
    /// The name has other characters, or the connection string cannot be read, or shares sessions: Multiplexing.
    /// </exception>
    /// <exception cref="InvalidOperationException">There is a participant of that name.</exception>
    public static BareEndpointBuilder AddParticipant(this BareEndpointBuilder endpoint, string name, string connectionString)
    {
        ArgumentNullException.ThrowIfNull(endpoint);
        ArgumentNullException.ThrowIfNull(name);
        Participant.RequireName(name);
        endpoint.Add(new Participant(name, new DatabaseAccess(connectionString).ForSessions(nameof(connectionString))));
        return endpoint;
    }

    /// <summary>
    /// Lets <c>full-dtc</c> start with its queue and its handlers' data on several servers, although one of them sends its log to standbys that it does not
    /// wait for. If such a standby is promoted, it lacks the last commits and another server has them: messages are lost or doubled. Call it if these
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
