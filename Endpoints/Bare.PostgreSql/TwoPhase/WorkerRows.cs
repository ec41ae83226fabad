using System.Collections.Concurrent;
using Npgsql;

namespace Kit.Endpoints.Bare.PostgreSql.TwoPhase;

/// <summary>
/// The decisions of a queue whose branches are on another server: the rows of its workers, of this and of all other processes. Recovery fences a worker's row
/// before it reads the decision there. It asks the workers of its own process themselves, because they know, and need not be fenced.
/// </summary>
internal sealed class WorkerRows : IDecisionLog
{
    /// <summary>The quoted name of the table.</summary>
    public const string Table = "kit_worker";

    /// <summary>Creates the table. Its rows are updated with each message, and a low fill factor leaves them room in their page.</summary>
    public const string Create =
        $"""
        SELECT pg_advisory_xact_lock(hashtext('kit queue'));
        CREATE TABLE IF NOT EXISTS {Table} (
            id uuid PRIMARY KEY,
            branches_on bigint NOT NULL,
            database bigint NOT NULL,
            open bigint[] NOT NULL DEFAULT '{"{}"}',
            is_fenced boolean NOT NULL DEFAULT false) WITH (fillfactor = 20);
        """;

    /// <summary>Adds a column that tables of an earlier version lack. Their rows keep 0, which no database has.</summary>
    public const string Upgrade = $"ALTER TABLE {Table} ADD COLUMN IF NOT EXISTS database bigint NOT NULL DEFAULT 0";

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

    /// <param name="pair">The queue's database and that of the branches.</param>
    /// <param name="table">The name of the table, with its schema.</param>
    public WorkerRows(ServerPair pair, string table) => (Pair, this.table) = (pair, table);

    public ServerPair Pair { get; }

    /// <summary>A number leaves its worker's row when the end of its branch was answered, so the server must not answer too early.</summary>
    public string? BeforeEnds => StandbyWait.OfSession;

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

    // A clone of the branches' server has its identifier, and can serve another endpoint of this queue: only in the database that the generation has just
    // proved are this worker's branches seen.
    private string FenceDead => $"UPDATE {table} SET is_fenced = true WHERE branches_on = $1 AND database = $2 AND {IsDead} RETURNING id";

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
        await using var batch = new NpgsqlBatch(session)
        {
            BatchCommands =
            {
                new NpgsqlBatchCommand(DeleteIdle),
                PostgreSqlStatement.Of("SELECT pg_advisory_lock(hashtextextended($1::uuid::text, 0))", worker),
                PostgreSqlStatement.Of($"INSERT INTO {table} (id, branches_on, database) VALUES ($1, $2, $3)", worker, Pair.BranchesOn, Pair.BranchesIn),
            },
        };
        await batch.ExecuteNonQueryAsync(cancellationToken);
    }

    public SlotKin KinOf(SlotHolder holder)
    {
        if (WorkerBranch.TryParse(holder.GlobalId, out var branch))
            return branch.Queue == Pair.Queue ? SlotKin.Own : WorkerBranch.KinOfAnother(holder);
        // A branch of a queue on its own server, or of this one, before it moved.
        return ReceivesAsDecisions.TryParse(holder.GlobalId, out _, out _) && holder.HasQueueDatabase ? WorkerBranch.KinOfAnother(holder) : SlotKin.Foreign;
    }

    public async Task<BranchDecision> ReadAsync(NpgsqlConnection data, BranchId branch, CancellationToken cancellationToken)
    {
        if (!WorkerBranch.TryParse(branch.GlobalId, out var unit))
            throw new ArgumentException($"'{branch}' does not name a worker.", nameof(branch));
        if (living.TryGetValue(unit.Worker, out var worker) && worker.Of(unit.Number) is { } known)
            return known;

        await using var session = await Pair.Queues.OpenConnectionAsync(cancellationToken);
        using var standbys = StandbyWait.On(session);
        await using var fence = new NpgsqlCommand(Fence, session) { Parameters = { new NpgsqlParameter<Guid> { TypedValue = unit.Worker } } };
        var listed = await fence.ExecuteScalarAsync(cancellationToken);
        standbys.Require();
        // Without a row nothing can be decided any more, and what had been decided has ended.
        return listed is long[] open && open.Contains(unit.Number)
            ? BranchDecision.Committed
            : BranchDecision.Aborted;
    }

    /// <summary>The queue's server has answered the decisions, and no other can contradict it.</summary>
    public async Task<long> RequireDecidedAsync(NpgsqlConnection data, IReadOnlyCollection<BranchId> branches)
    {
        await using var count = new NpgsqlCommand(Slots.CountUsed, data);
        return (long)(await count.ExecuteScalarAsync())!;
    }

    public void Ended(BranchId branch)
    {
        if (WorkerBranch.TryParse(branch.GlobalId, out var unit) && living.TryGetValue(unit.Worker, out var worker))
            worker.Ended(unit.Number);
    }

    public Task RequireAsync(NpgsqlConnection data, CancellationToken cancellationToken) => Pair.RequireAsync(data, cancellationToken);

    public Task RenewAsync(NpgsqlConnection data, CancellationToken cancellationToken) => Pair.RenewAsync(data, cancellationToken);

    public Task AwaitStandbysAsync(NpgsqlConnection data, CancellationToken cancellationToken) => Pair.AwaitStandbysAsync(data, cancellationToken);

    /// <summary>Deletes the rows of workers whose session has ended, and that have no branch any more.</summary>
    public async Task TidyAsync(NpgsqlConnection data, CancellationToken cancellationToken)
    {
        var dead = new HashSet<Guid>();
        await using (var fence = Pair.Queues.CreateCommand(FenceDead))
        {
            fence.Parameters.Add(new NpgsqlParameter<long> { TypedValue = Pair.BranchesOn });
            fence.Parameters.Add(new NpgsqlParameter<long> { TypedValue = Pair.BranchesIn });
            await using var row = await fence.ExecuteReaderAsync(cancellationToken);
            while (await row.ReadAsync(cancellationToken))
                dead.Add(row.GetGuid(0));
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
        await AwaitStandbysAsync(data, cancellationToken);
        await using var delete = Pair.Queues.CreateCommand($"DELETE FROM {table} WHERE id = ANY ($1)");
        delete.Parameters.Add(new NpgsqlParameter<Guid[]> { TypedValue = [.. dead] });
        await delete.ExecuteNonQueryAsync(cancellationToken);
    }
}
