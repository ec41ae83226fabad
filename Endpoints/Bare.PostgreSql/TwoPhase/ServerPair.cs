using Npgsql;

namespace Kit.Endpoints.Bare.PostgreSql.TwoPhase;

/// <summary>
/// A queue's database and one of its handlers' databases, which know each other. The queue has an identity, which its branches are named after. A copy of
/// either database has all that its origin has, and would rule on branches that it does not see, or that are not its own. So both databases remember a
/// generation, and every start of an endpoint and every pass of its recovery replaces it in both: the copy, or the origin, that did not take part in the last
/// one is refused.
/// </summary>
internal sealed class ServerPair : IAsyncDisposable
{
    private const string Identities = "kit_queue_identity";
    private const string KnownDatas = "kit_queue_data";
    private const string KnownQueues = "kit_data_queue";

    private const string CreateIdentities =
        $"""
        SELECT pg_advisory_xact_lock(hashtext('kit queue'));
        CREATE TABLE IF NOT EXISTS {Identities} (is_one boolean PRIMARY KEY DEFAULT true CHECK (is_one), id uuid NOT NULL);
        """;

    private const string CreateKnownDatas =
        $"""
        SELECT pg_advisory_xact_lock(hashtext('kit queue'));
        CREATE TABLE IF NOT EXISTS {KnownDatas} (server bigint, database bigint, generation uuid NOT NULL, next uuid, PRIMARY KEY (server, database));
        """;

    private const string CreateKnownQueues =
        $"""
        SELECT pg_advisory_xact_lock(hashtext('kit queue'));
        CREATE TABLE IF NOT EXISTS {KnownQueues} (queue uuid PRIMARY KEY, generation uuid NOT NULL);
        """;

    private readonly string endpoint;
    private readonly string identities;
    private readonly string knownDatas;
    private readonly string knownQueues;

    private ServerPair(
        string endpoint, NpgsqlDataSource queues, Guid queue, Participant participant, QueueDatabase place,
        string identities, string knownDatas, string knownQueues)
    {
        (this.endpoint, Queues, Queue, this.identities, this.knownDatas, this.knownQueues) = (endpoint, queues, queue, identities, knownDatas, knownQueues);
        Participant = participant;
        (BranchesOn, BranchesIn) = (unchecked((long)place.SystemIdentifier), place.DatabaseOid);
        // A worker uses one connection at a time, so the user's minimum pool size does not apply.
        var builder = new NpgsqlDataSourceBuilder(participant.Database.Text(enlist: false)) { ConnectionStringBuilder = { MinPoolSize = 0 } };
        builder.UsePhysicalConnectionInitializer(Require, opened => RequireAsync(opened, CancellationToken.None));
        Data = builder.Build();
    }

    /// <summary>The queue's database.</summary>
    public NpgsqlDataSource Queues { get; }

    /// <summary>The identity of the queue's database.</summary>
    public Guid Queue { get; }

    public Participant Participant { get; }

    /// <summary>The handlers' database. Each of its connections was checked when it was opened.</summary>
    public NpgsqlDataSource Data { get; }

    /// <summary>The system identifier of the branches' server.</summary>
    public long BranchesOn { get; }

    /// <summary>The oid of their database there.</summary>
    public long BranchesIn { get; }

    /// <summary>The handlers' database, independently of its name and address.</summary>
    public string Place => $"{BranchesOn}/{BranchesIn}";

    /// <summary>Why the two do not belong together, as the last connection or pass of recovery has found; <see langword="null"/> if they do.</summary>
    public InvalidOperationException? Refusal { get; private set; }

    /// <summary>Checks that the two belong together, and begins a generation.</summary>
    /// <param name="endpoint">The endpoint's name, for the refusal.</param>
    /// <param name="queues">The queue's database.</param>
    /// <param name="participant">The handlers' database.</param>
    /// <param name="place">The same, independently of its name and address.</param>
    /// <param name="cancellationToken">Cancels it.</param>
    /// <exception cref="InvalidOperationException">One of them is a copy, or a role lacks a right. The message says what to do.</exception>
    /// <exception cref="NpgsqlException">A database cannot be reached.</exception>
    public static async Task<ServerPair> StartAsync(
        string endpoint, NpgsqlDataSource queues, Participant participant, QueueDatabase place, CancellationToken cancellationToken)
    {
        await using var source = NpgsqlDataSource.Create(
            new NpgsqlConnectionStringBuilder(participant.Database.Text(enlist: false)) { Pooling = false });
        var ids = await new OwnTable(Identities, CreateIdentities, ["is_one"], ["SELECT", "INSERT"]).EnsureAsync(endpoint, queues, cancellationToken);
        var inQueue = await new OwnTable(KnownDatas, CreateKnownDatas, ["database", "server"], ["SELECT", "INSERT", "UPDATE"])
            .EnsureAsync(endpoint, queues, cancellationToken);
        var inData = await new OwnTable(KnownQueues, CreateKnownQueues, ["queue"], ["SELECT", "INSERT", "UPDATE"])
            .EnsureAsync(endpoint, source, cancellationToken);
        await using (var insert = queues.CreateCommand($"INSERT INTO {ids} (id) VALUES (gen_random_uuid()) ON CONFLICT DO NOTHING"))
            await insert.ExecuteNonQueryAsync(cancellationToken);
        await using var read = queues.CreateCommand($"SELECT id FROM {ids}");
        var queue = (Guid)(await read.ExecuteScalarAsync(cancellationToken))!;
        var pair = new ServerPair(endpoint, queues, queue, participant, place, ids, inQueue, inData);
        try
        {
            await using var connection = await source.OpenConnectionAsync(cancellationToken);
            await pair.RequireOneMarkAsync(connection, cancellationToken);
            await pair.RenewAsync(connection, cancellationToken);
            return pair;
        }
        catch
        {
            await pair.DisposeAsync();
            throw;
        }
    }

    /// <summary>Its tables in the queue's database, with their schemas.</summary>
    public IReadOnlyList<string> InQueue => [identities, knownDatas];

    /// <summary>Requires that the two still belong together.</summary>
    /// <param name="data">A connection to the handlers' database.</param>
    /// <param name="cancellationToken">Cancels it.</param>
    /// <exception cref="InvalidOperationException">They do not.</exception>
    /// <exception cref="NpgsqlException">A database cannot be reached.</exception>
    public async Task RequireAsync(NpgsqlConnection data, CancellationToken cancellationToken)
    {
        await using var queue = await Queues.OpenConnectionAsync(cancellationToken);
        await ReadAsync(queue, data, cancellationToken);
    }

    /// <summary>
    /// Requires the same, and begins a generation: from now on each copy that was made before is refused. Returns at once if another process does so.
    /// </summary>
    /// <inheritdoc cref="RequireAsync"/>
    public async Task RenewAsync(NpgsqlConnection data, CancellationToken cancellationToken)
    {
        await using var queue = await Queues.OpenConnectionAsync(cancellationToken);
        // First without the lock, which a connection that hangs would keep from all others.
        await ReadAsync(queue, data, cancellationToken);
        // It ends with the session, which no pool keeps.
        await using var tryLock = new NpgsqlCommand("SELECT pg_try_advisory_lock(hashtextextended($1, 0))", queue)
        {
            Parameters = { new NpgsqlParameter<string> { TypedValue = $"kit two servers {BranchesOn} {BranchesIn}" } },
        };
        if (await tryLock.ExecuteScalarAsync(cancellationToken) is false)
            return;

        var last = await ReadAsync(queue, data, cancellationToken);
        // Announced first: after a crash between the three, what the handlers' database has is one of the two that the queue accepts.
        var next = Guid.NewGuid();
        await WriteAsync(
            queue,
            PostgreSqlStatement.Of(
                $"""
                INSERT INTO {knownDatas} (server, database, generation, next) VALUES ($1, $2, $3, $4)
                ON CONFLICT (server, database) DO UPDATE SET generation = excluded.generation, next = excluded.next
                """,
                BranchesOn, BranchesIn, last ?? next, next),
            cancellationToken);
        await WriteAsync(
            data,
            PostgreSqlStatement.Of(
                $"INSERT INTO {knownQueues} (queue, generation) VALUES ($1, $2) ON CONFLICT (queue) DO UPDATE SET generation = excluded.generation",
                Queue, next),
            cancellationToken);
        await WriteAsync(
            queue,
            PostgreSqlStatement.Of($"UPDATE {knownDatas} SET generation = next, next = NULL WHERE next = $1", next),
            cancellationToken);
    }

    /// <summary>
    /// Returns when all that has ended on the branches' server is on its standbys, too: a write after it waits for them. What recovery sees as gone can be an
    /// end that no standby has.
    /// </summary>
    /// <exception cref="NpgsqlException">The server cannot be reached.</exception>
    /// <exception cref="ServerRefusedException">It stopped waiting.</exception>
    public Task AwaitStandbysAsync(NpgsqlConnection data, CancellationToken cancellationToken) =>
        WriteAsync(data, PostgreSqlStatement.Of($"UPDATE {knownQueues} SET generation = generation WHERE queue = $1", Queue), cancellationToken);

    public ValueTask DisposeAsync() => Data.DisposeAsync();

    /// <summary>
    /// Reads the generation of the handlers' database, which the queue's must accept. If it does not, and has changed meanwhile, an endpoint has begun another
    /// generation between the two questions.
    /// </summary>
    /// <returns><see langword="null"/> if the handlers' database has none of this queue yet.</returns>
    private async Task<Guid?> ReadAsync(NpgsqlConnection queue, NpgsqlConnection data, CancellationToken cancellationToken)
    {
        var accepted = await ReadAcceptedAsync(queue, cancellationToken);
        while (true)
        {
            await using var ask = new NpgsqlCommand($"SELECT generation FROM {knownQueues} WHERE queue = $1", data)
            {
                Parameters = { new NpgsqlParameter<Guid> { TypedValue = Queue } },
            };
            var found = await ask.ExecuteScalarAsync(cancellationToken) as Guid?;
            if (accepted.Contains(found))
            {
                Refusal = null;
                return found;
            }

            var before = accepted;
            accepted = await ReadAcceptedAsync(queue, cancellationToken);
            if (accepted.SequenceEqual(before))
                throw Refusal = Refused();
        }
    }

    /// <summary>
    /// Reads what the queue accepts: the last generation and one that was announced; if the handlers' database is new to it, none, also when its first one
    /// was announced.
    /// </summary>
    private async Task<Guid?[]> ReadAcceptedAsync(NpgsqlConnection queue, CancellationToken cancellationToken)
    {
        await using var batch = new NpgsqlBatch(queue)
        {
            BatchCommands =
            {
                PostgreSqlStatement.Of(
                    $"SELECT ARRAY[nullif(generation, next), coalesce(next, generation)] FROM {knownDatas} WHERE server = $1 AND database = $2",
                    BranchesOn, BranchesIn),
            },
        };
        await using var row = await batch.ExecuteReaderAsync(cancellationToken);
        return await row.ReadAsync(cancellationToken) ? row.GetFieldValue<Guid?[]>(0) : [null];
    }

    /// <summary>
    /// Requires that no other schema has a mark of this queue: each endpoint would refuse the other's as that of a copy. The tables that this role may not read
    /// count if its own has no mark, and the queue knows this database.
    /// </summary>
    /// <exception cref="InvalidOperationException">Another schema has it. The message says what to do.</exception>
    private async Task RequireOneMarkAsync(NpgsqlConnection data, CancellationToken cancellationToken)
    {
        await using var queue = await Queues.OpenConnectionAsync(cancellationToken);
        var isNew = (await ReadAcceptedAsync(queue, cancellationToken)).Contains(null);
        foreach (var (table, isReadable) in await ReadOtherMarksAsync(data, cancellationToken))
        {
            var sees = isReadable ? table : knownQueues;
            await using var ask = new NpgsqlCommand($"SELECT EXISTS (SELECT FROM {sees} WHERE queue = $1)", data)
            {
                Parameters = { new NpgsqlParameter<Guid> { TypedValue = Queue } },
            };
            var isThere = await ask.ExecuteScalarAsync(cancellationToken) is true;
            if (isReadable ? isThere : !isThere && !isNew)
            {
                throw new InvalidOperationException(
                    $"Endpoint '{endpoint}' cannot run in full-dtc: in the database of {Participant.Title} its role finds {knownQueues}, and other endpoints " +
                    $"of its queue {(isReadable ? "" : "seem to ")}use {table}. Each would refuse the other's mark as that of a copy. Let all of them find " +
                    "one table: put its schema first on the search path of each role" + (isReadable
                        ? ", and drop the other table."
                        : $". If none uses {table}, this database is a copy, or was restored to before the first start."));
            }
        }
    }

    private async Task<List<(string Table, bool IsReadable)>> ReadOtherMarksAsync(NpgsqlConnection data, CancellationToken cancellationToken)
    {
        await using var find = new NpgsqlCommand(
            """
            SELECT format('%I.%I', nspname, relname), has_schema_privilege(relnamespace, 'USAGE') AND has_table_privilege(pg_class.oid, 'SELECT')
            FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
            WHERE relname = $1 AND relkind = 'r' AND relpersistence <> 't' AND pg_class.oid <> to_regclass($2)
            """,
            data)
        {
            Parameters = { new NpgsqlParameter<string> { TypedValue = KnownQueues }, new NpgsqlParameter<string> { TypedValue = knownQueues } },
        };
        await using var found = await find.ExecuteReaderAsync(cancellationToken);
        var others = new List<(string Table, bool IsReadable)>();
        while (await found.ReadAsync(cancellationToken))
            others.Add((found.GetString(0), found.GetBoolean(1)));

        return others;
    }

    private static async Task WriteAsync(NpgsqlConnection connection, NpgsqlBatchCommand statement, CancellationToken cancellationToken)
    {
        using var standbys = StandbyWait.On(connection);
        await using var batch = new NpgsqlBatch(connection) { BatchCommands = { StandbyWait.Setting, statement } };
        await batch.ExecuteNonQueryAsync(cancellationToken);
        standbys.Require();
    }

    private void Require(NpgsqlConnection data) => RequireAsync(data, CancellationToken.None).GetAwaiter().GetResult();

    private InvalidOperationException Refused() => new(
        $"Endpoint '{endpoint}' cannot run in full-dtc: its queue's database and that of {Participant.Title} did not take part together in the last start or " +
        "pass of recovery. One of them is a copy (a base backup, a snapshot, a restored database), or its origin after a copy was started, or the data has " +
        "moved. A copy would end branches of its origin, and handle its messages again. Use the two that belong together. " +
        "If the other one is gone for good, stop all endpoints, see that 'branches' shows none of this queue on any server, and run " +
        $"DELETE FROM {knownDatas} WHERE server = {BranchesOn} AND database = {BranchesIn} and " +
        $"DELETE FROM {WorkerRows.Table} WHERE branches_on = {BranchesOn} AND database = {BranchesIn} OR '{Place}' = ANY (participants) in the queue's " +
        $"database and DELETE FROM {knownQueues} WHERE queue = '{Queue}' in the other. If a copy of the queue goes on next to its origin, give it an " +
        $"identity of its own before its first start: UPDATE {identities} SET id = gen_random_uuid().");
}
