using Kit.Endpoints.Bare.PostgreSql.TwoPhase;
using Npgsql;

namespace Kit.Endpoints.Bare.PostgreSql.Modes;

/// <summary>The start of <c>full-dtc</c> where the handlers' database is on another server than the queue.</summary>
internal static class ApartServers
{
    // Both servers keep what they have promised if their sessions wait for the log, and standbys that may be promoted are waited for.
    private const string Durability =
        "SELECT current_setting('synchronous_commit'), current_setting('synchronous_standby_names'), (SELECT count(*) FROM pg_stat_replication)";

    /// <summary>Checks the servers, and prepares the record of decisions.</summary>
    /// <param name="sessions">The endpoint's sessions.</param>
    /// <param name="data">The handlers' database.</param>
    /// <param name="cancellationToken">Cancels it.</param>
    /// <exception cref="InvalidOperationException">A server lacks something that the mode needs. The message says what to do.</exception>
    /// <exception cref="NpgsqlException">A database cannot be reached.</exception>
    public static async Task<WorkerRows> PrepareAsync(EndpointSessions sessions, QueueDatabase data, CancellationToken cancellationToken)
    {
        var endpoint = sessions.Endpoint;
        if (sessions.QueueDatabase.HasSeveralHosts || sessions.DataDatabase.HasSeveralHosts)
            throw Refused(endpoint, "with a list of hosts: no test has failed over one server of two. Name one host for each");

        await RequireDurableAsync(endpoint, PoolSizes.Queue, sessions.Queues, cancellationToken);
        await RequireDurableAsync(endpoint, PoolSizes.Data, sessions.Data, cancellationToken);
        var pair = await ServerPair.StartAsync(endpoint.Name, sessions.Queues, sessions.DataDatabase.Text(enlist: false), data, cancellationToken);
        sessions.EndAfterWorkers(pair);
        var workers = new OwnTable(
            WorkerRows.Table, WorkerRows.Create, ["id"], ["SELECT", "INSERT", "UPDATE", "DELETE"], ("database", WorkerRows.Upgrade));
        var table = await workers.EnsureAsync(endpoint.Name, sessions.Queues, cancellationToken);
        string[] tables = [table, .. pair.InQueue];
        if (tables.Select(one => one[..one.LastIndexOf('.')]).Distinct().Count() > 1)
        {
            throw Refused(endpoint,
                $"while its tables in the queue's database are in several schemas ({string.Join(", ", tables)}): endpoints could share the identity and not " +
                "the decisions. Move them into one schema on the search path of each endpoint");
        }

        return new WorkerRows(pair, table);
    }

    private static async Task RequireDurableAsync(BareEndpointBuilder endpoint, string of, NpgsqlDataSource source, CancellationToken cancellationToken)
    {
        await using var command = source.CreateCommand(Durability);
        await using var found = await command.ExecuteReaderAsync(cancellationToken);
        await found.ReadAsync(cancellationToken);
        var (setting, awaited, standbys) = (found.GetString(0), found.GetString(1), found.GetInt64(2));
        if (setting is "off" or "local")
        {
            throw Refused(endpoint,
                $"with synchronous_commit = {setting} in the database of {of}: the other server would keep what this one loses. Set it to on for this role, " +
                "database or server");
        }

        if (standbys > 0 && awaited.Length == 0 && !endpoint.AcceptsAsynchronousStandbys)
        {
            throw Refused(endpoint,
                $"while the server of {of} sends its log to {standbys} receivers and waits for none (synchronous_standby_names is empty): a standby that is " +
                "promoted lacks the last commits, which the other server has, so that messages would be lost or doubled. Name the standbys that may be " +
                $"promoted, or call {nameof(PostgreSqlBareEndpointBuilderExtensions.AcceptAsynchronousStandbys)}() if none ever is, or if you accept that");
        }
    }

    private static InvalidOperationException Refused(BareEndpointBuilder endpoint, string because) =>
        new($"Endpoint '{endpoint.Name}' cannot run in {endpoint.Mode} with its queue and its handlers' data on two servers {because}.");
}
