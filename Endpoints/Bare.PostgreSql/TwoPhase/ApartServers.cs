using Npgsql;

namespace Kit.Endpoints.Bare.PostgreSql.TwoPhase;

/// <summary>The start of <c>full-dtc</c> where handlers have a database on another server than the queue, or several.</summary>
internal static class ApartServers
{
    // A minute, as a rule: a standby is seldom attached.
    private const int LooksApart = 12;

    /// <summary>Checks the servers, and prepares the record of decisions.</summary>
    /// <param name="endpoint">The endpoint.</param>
    /// <param name="queueDatabase">The queue's database.</param>
    /// <param name="queues">The same, for statements that need no session.</param>
    /// <param name="participants">The handlers' databases, their own first.</param>
    /// <param name="open">Reaches one of them, for statements of the start and of <see cref="ApartDurability"/>.</param>
    /// <param name="cancellationToken">Cancels it.</param>
    /// <returns>The record, and what it decides on.</returns>
    /// <exception cref="InvalidOperationException">A server lacks something that the mode needs. The message says what to do.</exception>
    /// <exception cref="NpgsqlException">A database cannot be reached.</exception>
    public static async Task<(WorkerRows Rows, IReadOnlyList<DecidedParticipant> Participants)> PrepareAsync(
        TwoPhaseEndpoint endpoint, DatabaseAccess queueDatabase, NpgsqlDataSource queues, IReadOnlyList<Participant> participants,
        Func<Participant, NpgsqlDataSource> open, CancellationToken cancellationToken)
    {
        RequireOneHost(endpoint, PoolSizes.Queue, queueDatabase);
        foreach (var participant in participants)
            RequireOneHost(endpoint, participant.Title, participant.Database);

        List<ApartDurability> durability = [new(endpoint, PoolSizes.Queue, queues)];
        await RequireAsync(endpoint, durability[0], cancellationToken);
        var places = new OrderedDictionary<QueueDatabase, Participant>();
        foreach (var participant in participants)
        {
            var source = open(participant);
            durability.Add(new ApartDurability(endpoint, participant.Title, source));
            await RequireAsync(endpoint, durability[^1], cancellationToken);
            RequireOther(endpoint, places, participant, await QueueDatabase.ReadAsync(source, cancellationToken));
        }

        var pairs = new List<ServerPair>();
        foreach (var (place, participant) in places)
        {
            var pair = await ServerPair.StartAsync(endpoint.Name, queues, participant, place, cancellationToken);
            pairs.Add(pair);
            endpoint.EndAfterWorkers(pair);
        }

        var rows = new WorkerRows(pairs, await PrepareTablesAsync(endpoint, queues, pairs, cancellationToken));
        endpoint.Status.Refusal = () => rows.Refusal?.Message;
        endpoint.Status.Missing = () => durability.Select(one => one.Missing).FirstOrDefault(missing => missing is not null);
        // Each by itself: one that cannot be reached keeps none of the others from being seen.
        foreach (var one in durability)
            endpoint.Repeat(LooksApart * endpoint.RecoveryInterval, one.LookAsync);
        return (rows, [.. pairs.Select(pair => new DecidedParticipant(
            pair.Participant, new PairDecisions(rows, pair), pairs.Count(other => other.BranchesOn == pair.BranchesOn)))]);
    }

    /// <returns>The table of workers.</returns>
    private static async Task<string> PrepareTablesAsync(
        TwoPhaseEndpoint endpoint, NpgsqlDataSource queues, List<ServerPair> pairs, CancellationToken cancellationToken)
    {
        var workers = new OwnTable(
            WorkerRows.Table, WorkerRows.Create, ["id"], ["SELECT", "INSERT", "UPDATE", "DELETE"], (WorkerRows.LatestColumn, WorkerRows.Upgrade));
        var table = await workers.EnsureAsync(endpoint.Name, queues, cancellationToken);
        List<string> tables = [table, .. pairs[0].InQueue];
        if (pairs.Count > 1)
            tables.Add(await RemovedParticipants.EnsureAsync(endpoint.Name, queues, cancellationToken));
        if (tables.Select(one => one[..one.LastIndexOf('.')]).Distinct().Count() > 1)
        {
            throw Refused(endpoint,
                $"while its tables in the queue's database are in several schemas ({string.Join(", ", tables)}): endpoints could share the identity and not " +
                "the decisions. Move them into one schema on the search path of each endpoint");
        }

        return table;
    }

    private static void RequireOneHost(TwoPhaseEndpoint endpoint, string of, DatabaseAccess database)
    {
        if (database.HasSeveralHosts)
            throw Refused(endpoint, $"with a list of hosts for {of}: no test has failed over one server of several. Name one host for each");
    }

    private static async Task RequireAsync(TwoPhaseEndpoint endpoint, ApartDurability durability, CancellationToken cancellationToken)
    {
        if (await durability.FindAsync(cancellationToken) is { } missing)
            throw Refused(endpoint, missing);
    }

    private static void RequireOther(
        TwoPhaseEndpoint endpoint, OrderedDictionary<QueueDatabase, Participant> places, Participant participant, QueueDatabase place)
    {
        if (!places.TryAdd(place, participant))
        {
            throw Refused(endpoint,
                $"while {places[place].Title} and {participant.Title} are one database, or one is a copy of the other: the handler would wait on one " +
                "connection for locks that it holds on the other. Use one of them");
        }
    }

    private static InvalidOperationException Refused(TwoPhaseEndpoint endpoint, string because) =>
        new($"Endpoint '{endpoint.Name}' cannot run in {endpoint.Mode} over several servers or databases {because}.");
}
