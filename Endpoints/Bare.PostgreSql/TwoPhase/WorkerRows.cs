using System.Collections.Concurrent;
using Npgsql;

namespace Kit.Endpoints.Bare.PostgreSql.TwoPhase;

/// <summary>
/// The decisions of a queue whose branches can be on any servers: the rows of its workers, of this and of all other processes. Recovery fences a worker's row
/// before it reads the decision there. It asks the workers of its own process themselves, because they know, and need not be fenced.
/// </summary>
internal sealed class WorkerRows
{
    /// <summary>The quoted name of the table.</summary>
    public const string Table = "kit_worker";

    /// <summary>
    /// Creates the table. Its rows are updated with each message, and a low fill factor leaves them room in their page. A row says in which databases its
    /// worker can prepare branches: in <c>participants</c>, or, if it is only one, in the two columns that an earlier version had for it.
    /// </summary>
    public const string Create =
        $"""
        SELECT pg_advisory_xact_lock(hashtext('kit queue'));
        CREATE TABLE IF NOT EXISTS {Table} (
            id uuid PRIMARY KEY,
            branches_on bigint NOT NULL,
            database bigint NOT NULL,
            open bigint[] NOT NULL DEFAULT '{"{}"}',
            is_fenced boolean NOT NULL DEFAULT false,
            participants text[] NOT NULL DEFAULT '{"{}"}') WITH (fillfactor = 20);
        """;

    /// <summary>The last of the columns that tables of earlier versions lack.</summary>
    public const string LatestColumn = "participants";

    /// <summary>Adds those columns. 0 is no database.</summary>
    public const string Upgrade =
        $"ALTER TABLE {Table} ADD COLUMN IF NOT EXISTS database bigint NOT NULL DEFAULT 0, " +
        $"ADD COLUMN IF NOT EXISTS {LatestColumn} text[] NOT NULL DEFAULT '{"{}"}'";

    private const string Places = "CASE participants WHEN '{}' THEN ARRAY[concat(branches_on, '/', database)] ELSE participants END";

    // Only the server's memory has the lock, for as long as the worker's session lives.
    private const string IsDead =
        """
        NOT EXISTS (
            SELECT FROM pg_locks
            WHERE locktype = 'advisory' AND objsubid = 1 AND pg_locks.database = (SELECT oid FROM pg_database WHERE datname = current_database())
              AND (classid::bigint << 32) | objid::bigint = hashtextextended(id::text, 0))
        """;

    /// <summary>PostgreSQL quotes what it cannot convert, in every language of its messages.</summary>
    private const string Fenced = "kit: fenced, rows";

    private readonly string table;
    private readonly ConcurrentDictionary<Guid, WorkerRow> living = new();
    private readonly Dictionary<string, IReadOnlyCollection<Guid>> withoutBranches = new(StringComparer.Ordinal);

    /// <param name="pairs">The queue's database with each of those of the branches.</param>
    /// <param name="table">The name of the table, with its schema.</param>
    public WorkerRows(IReadOnlyList<ServerPair> pairs, string table)
    {
        (Pairs, this.table) = (pairs, table);
        Data = pairs.ToDictionary(pair => pair.Participant.Name, pair => pair.Data, StringComparer.Ordinal);
    }

    /// <summary>The queue's database with each of those of the branches.</summary>
    public IReadOnlyList<ServerPair> Pairs { get; }

    /// <summary>Reaches the database of each participant, by name.</summary>
    public IReadOnlyDictionary<string, NpgsqlDataSource> Data { get; }

    /// <summary>The identity of the queue's database.</summary>
    public Guid Queue => Pairs[0].Queue;

    /// <summary>Why the databases do not belong together; <see langword="null"/> if they do.</summary>
    public InvalidOperationException? Refusal => Pairs.Select(pair => pair.Refusal).FirstOrDefault(refusal => refusal is not null);

    /// <summary>
    /// The statement before the COMMIT of a receive: $1 is the list of numbers, $2 the worker. It fails if recovery has fenced the row, so that the COMMIT
    /// is skipped. The COMMIT waits, whatever a trigger on the sends has set.
    /// </summary>
    public string Decide =>
        $"WITH decided AS (UPDATE {table} SET open = $1 WHERE id = $2 AND NOT is_fenced RETURNING 1) " +
        $"SELECT CASE count(*) WHEN 1 THEN 1 ELSE ('{Fenced} ' || count(*))::int END, {StandbyWait.OfTransaction} FROM decided";

    // An UPDATE, even of a row that is fenced already: it waits for a decision that is being committed, and for the standbys of the server. An INSERT that
    // does nothing would see a decision that no standby has.
    private string Fence => $"UPDATE {table} SET is_fenced = true WHERE id = $1 RETURNING open, {StandbyWait.OfTransaction}";

    // With several databases a branch waits, prepared, for the prepares of the others, and each of them can be slow.
    private string MayDecide =>
        $"SELECT EXISTS (SELECT FROM {table} WHERE id = $1 AND participants <> '{"{}"}' AND NOT is_fenced AND NOT {IsDead})";

    // A clone of the branches' server has its identifier, and can serve another endpoint of this queue: only in the databases that the generations have
    // proved are this worker's branches seen. And another configuration of the endpoint can have others.
    private string FenceDead => $"UPDATE {table} SET is_fenced = true WHERE $2 = ANY ({Places}) AND {Places} <@ $1 AND {IsDead} RETURNING id, {Places}";

    // A list that is empty was never written: its worker decided nothing, which a missing row says, too. In an outage of the branches' server every session
    // leaves such a row, and no pass of recovery gets as far as to delete it.
    private string DeleteIdle => $"DELETE FROM {table} WHERE open = '{"{}"}' AND {IsDead}";

    /// <summary>Whether <see cref="Decide"/> failed because of recovery; under repeatable read the server says it in another way.</summary>
    public static bool IsFenced(PostgresException refused) =>
        refused.SqlState == PostgresErrorCodes.SerializationFailure || refused.MessageText.Contains(Fenced, StringComparison.Ordinal);

    public void Add(WorkerRow worker) => living[worker.Id] = worker;

    public void Remove(WorkerRow worker) => living.TryRemove(worker.Id, out _);

    /// <exception cref="NpgsqlException">The queue's database cannot be reached.</exception>
    public async Task InsertAsync(NpgsqlConnection session, Guid worker, CancellationToken cancellationToken)
    {
        // With several, an earlier version, which sees only one, must not find the row to be deleted.
        var (server, database, participants) = Pairs is [var only]
            ? (only.BranchesOn, only.BranchesIn, Array.Empty<string>())
            : (0L, 0L, Pairs.Select(pair => pair.Place).ToArray());
        await using var batch = new NpgsqlBatch(session)
        {
            BatchCommands =
            {
                new NpgsqlBatchCommand(DeleteIdle),
                PostgreSqlStatement.Of("SELECT pg_advisory_lock(hashtextextended($1::uuid::text, 0))", worker),
                PostgreSqlStatement.Of(
                    $"INSERT INTO {table} (id, branches_on, database, participants) VALUES ($1, $2, $3, $4)", worker, server, database, participants),
            },
        };
        await batch.ExecuteNonQueryAsync(cancellationToken);
    }

    /// <summary>Shows that workers have ended whose session goes on.</summary>
    /// <exception cref="NpgsqlException">The queue's database cannot be reached.</exception>
    public static async Task ReleaseAsync(NpgsqlConnection session, IEnumerable<Guid> workers, CancellationToken cancellationToken)
    {
        await using var release = new NpgsqlCommand("SELECT pg_advisory_unlock(hashtextextended(id::text, 0)) FROM unnest($1) AS id", session)
        {
            Parameters = { new NpgsqlParameter<Guid[]> { TypedValue = [.. workers] } },
        };
        await release.ExecuteNonQueryAsync(cancellationToken);
    }

    /// <summary>Whether a database of that server, by its oid, is among those whose recovery this process runs.</summary>
    public bool Has(long server, long database) => Pairs.Any(pair => pair.BranchesOn == server && pair.BranchesIn == database);

    /// <inheritdoc cref="IDecisionLog.ReadAsync"/>
    public async Task<BranchDecision> ReadAsync(BranchId branch, bool isYoung, CancellationToken cancellationToken)
    {
        var unit = WorkerBranch.Of(branch);
        if (living.TryGetValue(unit.Worker, out var worker) && worker.Of(unit.Number) is { } known)
            return known;

        await using var session = await Pairs[0].Queues.OpenConnectionAsync(cancellationToken);
        await using var look = new NpgsqlCommand(MayDecide, session) { Parameters = { new NpgsqlParameter<Guid> { TypedValue = unit.Worker } } };
        if (isYoung && await look.ExecuteScalarAsync(cancellationToken) is true)
            return BranchDecision.Undecided;

        using var standbys = StandbyWait.On(session);
        await using var fence = new NpgsqlCommand(Fence, session) { Parameters = { new NpgsqlParameter<Guid> { TypedValue = unit.Worker } } };
        var listed = await fence.ExecuteScalarAsync(cancellationToken);
        standbys.Require();
        // Without a row nothing can be decided any more, and what had been decided has ended.
        return listed is long[] open && open.Contains(unit.Number)
            ? BranchDecision.Committed
            : BranchDecision.Aborted;
    }

    /// <summary>A branch is no longer prepared.</summary>
    public void Ended(WorkerBranch branch)
    {
        if (living.TryGetValue(branch.Worker, out var worker))
            worker.Ended(branch);
    }

    /// <summary>
    /// Looks in one database for branches of workers whose session has ended. Deletes the rows of those that have none there, and had none in each other
    /// database where they could, when that was looked at last: once fenced, a worker gets none that is decided. So one that cannot be reached keeps them.
    /// </summary>
    /// <param name="pair">The database.</param>
    /// <param name="data">A connection to it.</param>
    /// <param name="cancellationToken">Cancels it.</param>
    /// <exception cref="NpgsqlException">A server cannot be reached.</exception>
    public async Task TidyAsync(ServerPair pair, NpgsqlConnection data, CancellationToken cancellationToken)
    {
        var dead = new Dictionary<Guid, string[]>();
        await using (var fence = pair.Queues.CreateCommand(FenceDead))
        {
            fence.Parameters.Add(new NpgsqlParameter<string[]> { TypedValue = [.. Pairs.Select(one => one.Place)] });
            fence.Parameters.Add(new NpgsqlParameter<string> { TypedValue = pair.Place });
            await using var row = await fence.ExecuteReaderAsync(cancellationToken);
            while (await row.ReadAsync(cancellationToken))
                dead.Add(row.GetGuid(0), row.GetFieldValue<string[]>(1));
        }

        if (dead.Count == 0)
            return;

        // After the fence: a branch that is prepared later is not decided, and a missing row says the same of it.
        foreach (var holder in await SlotHolder.ReadAllAsync(data, cancellationToken))
        {
            if (WorkerBranch.TryParse(holder.GlobalId, out var branch))
                dead.Remove(branch.Worker);
        }

        // The end of a branch that is gone here may be on no standby yet.
        await pair.AwaitStandbysAsync(data, cancellationToken);
        await using var delete = pair.Queues.CreateCommand($"DELETE FROM {table} WHERE id = ANY ($1)");
        delete.Parameters.Add(new NpgsqlParameter<Guid[]> { TypedValue = WithoutBranches(pair.Place, dead) });
        await delete.ExecuteNonQueryAsync(cancellationToken);
    }

    /// <param name="place">The database that was looked at.</param>
    /// <param name="workers">Those that have no branch there, and where else they can have.</param>
    /// <returns>Those of them that have none anywhere.</returns>
    private Guid[] WithoutBranches(string place, IReadOnlyDictionary<Guid, string[]> workers)
    {
        lock (withoutBranches)
        {
            withoutBranches[place] = workers.Keys.ToHashSet();
            return [.. workers.Keys.Where(worker => workers[worker].All(other => withoutBranches.GetValueOrDefault(other)?.Contains(worker) is true))];
        }
    }
}
