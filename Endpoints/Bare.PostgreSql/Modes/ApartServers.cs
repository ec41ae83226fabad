using Kit.Endpoints.Bare.PostgreSql.TwoPhase;
using Npgsql;

namespace Kit.Endpoints.Bare.PostgreSql.Modes;

/// <summary>The start of <c>full-dtc</c> where the handlers' database is on another server than the queue.</summary>
internal static class ApartServers
{
    // A minute, as a rule: a standby is seldom attached.
    private const int LooksApart = 12;

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

        var durability = new ApartDurability(endpoint, sessions.Queues, sessions.Data, sessions.Log);
        if (await durability.FindAsync(cancellationToken) is { } missing)
            throw Refused(endpoint, missing);
        var pair = await ServerPair.StartAsync(endpoint.Name, sessions.Queues, sessions.DataDatabase.Text(enlist: false), data, cancellationToken);
        sessions.EndAfterWorkers(pair);
        sessions.AddHandlersData(pair.Data);
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

        endpoint.Status.Missing = () => durability.Missing;
        sessions.Workers.Repeat(LooksApart * endpoint.RecoveryInterval, durability.LookAsync);
        return new WorkerRows(pair, table);
    }

    private static InvalidOperationException Refused(BareEndpointBuilder endpoint, string because) =>
        new($"Endpoint '{endpoint.Name}' cannot run in {endpoint.Mode} with its queue and its handlers' data on two servers {because}.");
}
