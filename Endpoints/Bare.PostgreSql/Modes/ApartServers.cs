using Kit.Endpoints.Bare.PostgreSql.TwoPhase;
using Npgsql;

namespace Kit.Endpoints.Bare.PostgreSql.Modes;

/// <summary>The start of <c>full-dtc</c> where handlers have a database on another server than the queue, or several.</summary>
internal static class ApartServers
{
    // A minute, as a rule: a standby is seldom attached.
    private const int LooksApart = 12;

    /// <summary>Checks the servers, and prepares the record of decisions.</summary>
    /// <param name="sessions">The endpoint's sessions.</param>
    /// <param name="cancellationToken">Cancels it.</param>
    /// <returns>The record, and what it decides on.</returns>
    /// <exception cref="InvalidOperationException">A server lacks something that the mode needs. The message says what to do.</exception>
    /// <exception cref="NpgsqlException">A database cannot be reached.</exception>
    public static async Task<(WorkerRows Rows, IReadOnlyList<DecidedParticipant> Participants)> PrepareAsync(
        EndpointSessions sessions, CancellationToken cancellationToken)
    {
        var endpoint = sessions.Endpoint;
        RequireOneHost(endpoint, PoolSizes.Queue, sessions.QueueDatabase);
        foreach (var participant in sessions.Participants)
            RequireOneHost(endpoint, participant.Title, participant.Database);

        List<ApartDurability> durability = [new(endpoint, PoolSizes.Queue, sessions.Queues, sessions.Log)];
        await RequireAsync(endpoint, durability[0], cancellationToken);
        var places = new OrderedDictionary<QueueDatabase, Participant>();
        foreach (var participant in sessions.Participants)
        {
            var source = sessions.OpenData(participant);
            durability.Add(new ApartDurability(endpoint, participant.Title, source, sessions.Log));
            await RequireAsync(endpoint, durability[^1], cancellationToken);
            RequireOther(endpoint, places, participant, await QueueDatabase.ReadAsync(source, cancellationToken));
        }

        var pairs = new List<ServerPair>();
        foreach (var (place, participant) in places)
        {
            var pair = await ServerPair.StartAsync(endpoint.Name, sessions.Queues, participant, place, cancellationToken);
            pairs.Add(pair);
            sessions.EndAfterWorkers(pair);
            sessions.AddHandlersData(pair.Data, participant.Database);
        }

        var rows = new WorkerRows(pairs, await PrepareTablesAsync(sessions, pairs, cancellationToken));
        sessions.Places = [.. pairs.Select(pair => pair.Place)];
        endpoint.Status.Refusal = () => rows.Refusal?.Message;
        endpoint.Status.Missing = () => durability.Select(one => one.Missing).FirstOrDefault(missing => missing is not null);
        // Each by itself: one that cannot be reached keeps none of the others from being seen.
        foreach (var one in durability)
            sessions.Workers.Repeat(LooksApart * endpoint.RecoveryInterval, one.LookAsync);
        return (rows, [.. pairs.Select(pair => new DecidedParticipant(
            pair.Participant, new PairDecisions(rows, pair), pairs.Count(other => other.BranchesOn == pair.BranchesOn)))]);
    }

    /// <returns>The table of workers.</returns>
    private static async Task<string> PrepareTablesAsync(EndpointSessions sessions, List<ServerPair> pairs, CancellationToken cancellationToken)
    {
        var endpoint = sessions.Endpoint;
        var workers = new OwnTable(
            WorkerRows.Table, WorkerRows.Create, ["id"], ["SELECT", "INSERT", "UPDATE", "DELETE"], (WorkerRows.LatestColumn, WorkerRows.Upgrade));
        var table = await workers.EnsureAsync(endpoint.Name, sessions.Queues, cancellationToken);
        List<string> tables = [table, .. pairs[0].InQueue];
        if (pairs.Count > 1)
            tables.Add(await RemovedParticipants.EnsureAsync(endpoint.Name, sessions.Queues, cancellationToken));
        if (tables.Select(one => one[..one.LastIndexOf('.')]).Distinct().Count() > 1)
        {
            throw Refused(endpoint,
                $"while its tables in the queue's database are in several schemas ({string.Join(", ", tables)}): endpoints could share the identity and not " +
                "the decisions. Move them into one schema on the search path of each endpoint");
        }

        return table;
    }

    private static void RequireOneHost(BareEndpointBuilder endpoint, string of, DatabaseAccess database)
    {
        if (database.HasSeveralHosts)
            throw Refused(endpoint, $"with a list of hosts for {of}: no test has failed over one server of several. Name one host for each");
    }

    private static async Task RequireAsync(BareEndpointBuilder endpoint, ApartDurability durability, CancellationToken cancellationToken)
    {
        if (await durability.FindAsync(cancellationToken) is { } missing)
            throw Refused(endpoint, missing);
    }

    private static void RequireOther(
        BareEndpointBuilder endpoint, OrderedDictionary<QueueDatabase, Participant> places, Participant participant, QueueDatabase place)
    {
        if (!places.TryAdd(place, participant))
        {
            throw Refused(endpoint,
                $"while {places[place].Title} and {participant.Title} are one database, or one is a copy of the other: the handler would wait on one " +
                "connection for locks that it holds on the other. Use one of them");
        }
    }

    private static InvalidOperationException Refused(BareEndpointBuilder endpoint, string because) =>
        new($"Endpoint '{endpoint.Name}' cannot run in {endpoint.Mode} over several servers or databases {because}.");
}
