using Npgsql;

namespace Kit.Endpoints.Bare.PostgreSql.TwoPhase;

/// <summary>
/// A queue's database and the handlers' database on another server, which know each other. The queue has an identity, which its branches are named after. A
/// copy of either database has all that its origin has, and would rule on branches that it does not see, or that are not its own. So both databases remember a
/// generation, and every start of an endpoint replaces it in both: the copy, or the origin, that did not take part in the last start is refused.
/// </summary>
internal sealed class ServerPair : IAsyncDisposable
{
    private const string Identities = "kit_queue_identity";
    private const string Datas = "kit_queue_data";
    private const string Queues = "kit_data_queue";

    private const string CreateIdentities =
        $"""
        SELECT pg_advisory_xact_lock(hashtext('kit queue'));
        CREATE TABLE IF NOT EXISTS {Identities} (is_one boolean PRIMARY KEY DEFAULT true CHECK (is_one), id uuid NOT NULL);
        """;

    private const string CreateDatas =
        $"""
        SELECT pg_advisory_xact_lock(hashtext('kit queue'));
        CREATE TABLE IF NOT EXISTS {Datas} (server bigint, database oid, generation uuid NOT NULL, next uuid, PRIMARY KEY (server, database));
        """;

    private const string CreateQueues =
        $"""
        SELECT pg_advisory_xact_lock(hashtext('kit queue'));
        CREATE TABLE IF NOT EXISTS {Queues} (queue uuid PRIMARY KEY, generation uuid NOT NULL);
        """;

    // One start at a time. The lock ends with the session.
    private const string Lock = "SELECT pg_advisory_lock(hashtext('kit two servers'))";

    private readonly string endpoint;
    private readonly NpgsqlDataSource queues;
    private readonly QueueDatabase place;
    private readonly string datas;
    private readonly string known;

    private ServerPair(string endpoint, NpgsqlDataSource queues, Guid queue, QueueDatabase place, string datas, string known, string data)
    {
        (this.endpoint, this.queues, Queue, this.place, this.datas, this.known) = (endpoint, queues, queue, place, datas, known);
        // A worker uses one connection at a time, so the user's minimum pool size does not apply.
        var builder = new NpgsqlDataSourceBuilder(data) { ConnectionStringBuilder = { MinPoolSize = 0 } };
        builder.UsePhysicalConnectionInitializer(Require, opened => RequireAsync(opened, CancellationToken.None));
        Data = builder.Build();
    }

    /// <summary>The identity of the queue's database.</summary>
    public Guid Queue { get; }

    /// <summary>The handlers' database. Each of its connections was checked when it was opened.</summary>
    public NpgsqlDataSource Data { get; }

    /// <summary>The system identifier of the branches' server.</summary>
    public ulong BranchesOn => place.SystemIdentifier;

    /// <summary>Checks that the two belong together, and begins a generation.</summary>
    /// <param name="endpoint">The endpoint's name, for the refusal.</param>
    /// <param name="queues">The queue's database.</param>
    /// <param name="data">How the handlers reach their database, on another server. Must not enlist.</param>
    /// <param name="cancellationToken">Cancels it.</param>
    /// <exception cref="InvalidOperationException">One of them is a copy, or a role lacks a right. The message says what to do.</exception>
    /// <exception cref="NpgsqlException">A database cannot be reached.</exception>
    public static async Task<ServerPair> StartAsync(string endpoint, NpgsqlDataSource queues, string data, CancellationToken cancellationToken)
    {
        await using var source = NpgsqlDataSource.Create(new NpgsqlConnectionStringBuilder(data) { Pooling = false });
        var identities = await new OwnTable(Identities, CreateIdentities, ["is_one"], ["SELECT", "INSERT"]).EnsureAsync(endpoint, queues, cancellationToken);
        var keeping = await new OwnTable(Datas, CreateDatas, ["database", "server"], ["SELECT", "INSERT", "UPDATE"])
            .EnsureAsync(endpoint, queues, cancellationToken);
        var knowing = await new OwnTable(Queues, CreateQueues, ["queue"], ["SELECT", "INSERT", "UPDATE"]).EnsureAsync(endpoint, source, cancellationToken);
        await using (var insert = queues.CreateCommand($"INSERT INTO {identities} (id) VALUES (gen_random_uuid()) ON CONFLICT DO NOTHING"))
            await insert.ExecuteNonQueryAsync(cancellationToken);
        await using var read = queues.CreateCommand($"SELECT id FROM {identities}");
        var queue = (Guid)(await read.ExecuteScalarAsync(cancellationToken))!;
        var pair = new ServerPair(endpoint, queues, queue, await QueueDatabase.ReadAsync(source, cancellationToken), keeping, knowing, data);
        try
        {
            await pair.BeginGenerationAsync(source, cancellationToken);
            return pair;
        }
        catch
        {
            await pair.DisposeAsync();
            throw;
        }
    }

    /// <summary>Whether the table of the workers is in the schema of the queue's identity.</summary>
    /// <param name="workers">The table's name, with its schema.</param>
    public bool IsNextToWorkers(string workers) => workers[..^WorkerRows.Table.Length] == datas[..^Datas.Length];

    /// <summary>Requires that the two still belong together. An endpoint that starts meanwhile changes both, so a mismatch is read twice.</summary>
    /// <param name="data">A connection to the handlers' database.</param>
    /// <param name="cancellationToken">Cancels it.</param>
    /// <exception cref="InvalidOperationException">They do not.</exception>
    /// <exception cref="NpgsqlException">A database cannot be reached.</exception>
    public async Task RequireAsync(NpgsqlConnection data, CancellationToken cancellationToken)
    {
        for (var again = true; ; again = false)
        {
            await using var ofQueue = queues.CreateCommand(ReadKept);
            AddPlace(ofQueue.Parameters);
            await using var ofData = ReadOwn(data);
            var (kept, own) = (await ofQueue.ExecuteScalarAsync(cancellationToken), await ofData.ExecuteScalarAsync(cancellationToken));
            if (AreOne(kept, own))
                return;
            if (!again)
                throw Refused();
        }
    }

    /// <summary>
    /// Returns when all that has ended on the branches' server is on its standbys, too: a write after it waits for them. What recovery sees as gone can be an
    /// end that no standby has.
    /// </summary>
    /// <exception cref="NpgsqlException">The server cannot be reached.</exception>
    /// <exception cref="ServerRefusedException">It stopped waiting.</exception>
    public async Task AwaitStandbysAsync(NpgsqlConnection data, CancellationToken cancellationToken)
    {
        using var standbys = StandbyWait.On(data);
        await using var write = new NpgsqlCommand($"UPDATE {known} SET generation = generation WHERE queue = $1", data) { Parameters = { Identity } };
        await write.ExecuteNonQueryAsync(cancellationToken);
        standbys.Require();
    }

    public ValueTask DisposeAsync() => Data.DisposeAsync();

    // The generations that the queue accepts: the last, and the one that a start has announced.
    private string ReadKept => $"SELECT ARRAY[generation, coalesce(next, generation)] FROM {datas} WHERE server = $1 AND database = $2";

    private NpgsqlParameter<Guid> Identity => new() { TypedValue = Queue };

    private static bool AreOne(object? kept, object? own) => (kept, own) switch
    {
        (null, null) => true,
        (Guid[] accepted, Guid generation) => accepted.Contains(generation),
        _ => false,
    };

    private async Task BeginGenerationAsync(NpgsqlDataSource source, CancellationToken cancellationToken)
    {
        await using var queue = await queues.OpenConnectionAsync(cancellationToken);
        await using var data = await source.OpenConnectionAsync(cancellationToken);
        await ExecuteAsync(queue, Lock);
        try
        {
            await using var ofQueue = new NpgsqlCommand(ReadKept, queue);
            AddPlace(ofQueue.Parameters);
            await using var ofData = ReadOwn(data);
            var own = await ofData.ExecuteScalarAsync(cancellationToken);
            if (!AreOne(await ofQueue.ExecuteScalarAsync(cancellationToken), own))
                throw Refused();

            // Announced first: after a crash between the three, what the handlers' database has is one of the two that the queue accepts.
            var next = new NpgsqlParameter<Guid> { TypedValue = Guid.NewGuid() };
            await ExecuteAsync(
                queue,
                $"""
                INSERT INTO {datas} AS kept (server, database, generation, next) VALUES ($1, $2, $3, $3)
                ON CONFLICT (server, database) DO UPDATE SET generation = coalesce($4, kept.generation), next = $3
                """,
                [.. Place, next, new NpgsqlParameter<Guid?> { TypedValue = own as Guid?, NpgsqlDbType = NpgsqlTypes.NpgsqlDbType.Uuid }]);
            await ExecuteAsync(
                data,
                $"INSERT INTO {known} (queue, generation) VALUES ($1, $2) ON CONFLICT (queue) DO UPDATE SET generation = excluded.generation",
                Identity, new NpgsqlParameter<Guid> { TypedValue = next.TypedValue });
            await ExecuteAsync(
                queue, $"UPDATE {datas} SET generation = next, next = NULL WHERE server = $1 AND database = $2", [.. Place]);
        }
        finally
        {
            await ExecuteAsync(queue, Lock.Replace("lock(", "unlock(", StringComparison.Ordinal));
        }

        async Task ExecuteAsync(NpgsqlConnection connection, string statement, params NpgsqlParameter[] values)
        {
            using var standbys = StandbyWait.On(connection);
            await using var command = new NpgsqlCommand(statement, connection);
            foreach (var value in values)
                command.Parameters.Add(value);
            await command.ExecuteNonQueryAsync(cancellationToken);
            standbys.Require();
        }
    }

    private IEnumerable<NpgsqlParameter> Place =>
    [
        new NpgsqlParameter<long> { TypedValue = unchecked((long)place.SystemIdentifier) },
        new NpgsqlParameter<uint> { TypedValue = place.DatabaseOid, NpgsqlDbType = NpgsqlTypes.NpgsqlDbType.Oid },
    ];

    private void AddPlace(NpgsqlParameterCollection parameters)
    {
        foreach (var value in Place)
            parameters.Add(value);
    }

    private NpgsqlCommand ReadOwn(NpgsqlConnection data) => new($"SELECT generation FROM {known} WHERE queue = $1", data) { Parameters = { Identity } };

    private void Require(NpgsqlConnection data) => RequireAsync(data, CancellationToken.None).GetAwaiter().GetResult();

    private InvalidOperationException Refused() => new(
        $"Endpoint '{endpoint}' cannot run in full-dtc: its queue's database and its handlers' database have not been started together the last time. " +
        "One of them is a copy (a base backup, a snapshot, a restored database), or its origin after a copy was started, or the handlers' data has moved. " +
        "A copy would end branches of its origin, and handle its messages again. Use the two that belong together. " +
        $"If the other one is gone for good, stop all endpoints, see that 'branches' shows none of this queue, and run DELETE FROM {datas} " +
        $"WHERE server = {unchecked((long)place.SystemIdentifier)} AND database = {place.DatabaseOid} in the queue's database and " +
        $"DELETE FROM {known} WHERE queue = '{Queue}' in the handlers'. If a copy of the queue goes on next to its origin, give it an identity of its own " +
        $"before its first start: UPDATE {datas[..^Datas.Length]}{Identities} SET id = gen_random_uuid().");
}
