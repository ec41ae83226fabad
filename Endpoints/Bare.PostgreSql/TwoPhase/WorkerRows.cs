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
            open bigint[] NOT NULL DEFAULT '{"{}"}',
            is_fenced boolean NOT NULL DEFAULT false) WITH (fillfactor = 20);
        """;

    private readonly NpgsqlDataSource queues;
    private readonly string table;
    private readonly long branchesOn;
    private readonly ConcurrentDictionary<Guid, WorkerRow> living = new();

    /// <param name="queues">The queue's database.</param>
    /// <param name="queue">Its identity.</param>
    /// <param name="table">The name of the table, with its schema.</param>
    /// <param name="branchesOn">The system identifier of the branches' server.</param>
    public WorkerRows(NpgsqlDataSource queues, Guid queue, string table, ulong branchesOn)
    {
        (this.queues, Queue, this.table, this.branchesOn) = (queues, queue, table, unchecked((long)branchesOn));
    }

    /// <summary>The identity of the queue's database.</summary>
    public Guid Queue { get; }

    /// <summary>
    /// The statement before the COMMIT of a receive: $1 is the list of numbers, $2 the worker. It fails if recovery has fenced the row, so that the COMMIT
    /// is skipped.
    /// </summary>
    public string Decide =>
        $"WITH decided AS (UPDATE {table} SET open = $1 WHERE id = $2 AND NOT is_fenced RETURNING 1) SELECT 1 / count(*) FROM decided";

    // An UPDATE, even of a row that is fenced already: it waits for a decision that is being committed, and for the standbys of the server. An INSERT that
    // does nothing would see a decision that no standby has.
    private string Fence => $"UPDATE {table} SET is_fenced = true WHERE id = $1 RETURNING open";

    // Only the server's memory has the lock, for as long as the worker's session lives.
    private string FenceDead =>
        $"""
        UPDATE {table} SET is_fenced = true
        WHERE branches_on = $1 AND NOT EXISTS (
            SELECT FROM pg_locks
            WHERE locktype = 'advisory' AND objsubid = 1 AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
              AND (classid::bigint << 32) | objid::bigint = hashtextextended(id::text, 0))
        RETURNING id
        """;

    public void Add(WorkerRow worker) => living[worker.Id] = worker;

    public void Remove(WorkerRow worker) => living.TryRemove(worker.Id, out _);

    /// <exception cref="NpgsqlException">The queue's database cannot be reached.</exception>
    public async Task InsertAsync(NpgsqlConnection session, Guid worker, CancellationToken cancellationToken)
    {
        await using var batch = new NpgsqlBatch(session)
        {
            BatchCommands =
            {
                PostgreSqlStatement.Of("SELECT pg_advisory_lock(hashtextextended($1::uuid::text, 0))", worker),
                PostgreSqlStatement.Of($"INSERT INTO {table} (id, branches_on) VALUES ($1, $2)", worker, branchesOn),
            },
        };
        await batch.ExecuteNonQueryAsync(cancellationToken);
    }

    public SlotKin KinOf(SlotHolder holder)
    {
        if (WorkerBranch.TryParse(holder.GlobalId, out var branch))
            return branch.Queue == Queue ? SlotKin.Own : WorkerBranch.KinOfAnother(holder);
        // A branch of a queue on its own server.
        return ReceivesAsDecisions.TryParse(holder.GlobalId, out _, out _) && holder.HasQueueDatabase ? SlotKin.OfAnotherQueue : SlotKin.Foreign;
    }

    public async Task<BranchDecision> ReadAsync(NpgsqlConnection data, BranchId branch, CancellationToken cancellationToken)
    {
        if (!WorkerBranch.TryParse(branch.GlobalId, out var unit))
            throw new ArgumentException($"'{branch}' does not name a worker.", nameof(branch));
        if (living.TryGetValue(unit.Worker, out var worker) && worker.Of(unit.Number) is { } known)
            return known;

        await using var fence = queues.CreateCommand(Fence);
        fence.Parameters.Add(new NpgsqlParameter<Guid> { TypedValue = unit.Worker });
        // Without a row nothing can be decided any more, and what had been decided has ended.
        return await fence.ExecuteScalarAsync(cancellationToken) is long[] open && open.Contains(unit.Number)
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

    /// <summary>Deletes the rows of workers whose session has ended, and that have no branch on this server any more.</summary>
    public async Task TidyAsync(NpgsqlConnection data, CancellationToken cancellationToken)
    {
        var dead = new HashSet<Guid>();
        await using (var fence = queues.CreateCommand(FenceDead))
        {
            fence.Parameters.Add(new NpgsqlParameter<long> { TypedValue = branchesOn });
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

        await using var delete = queues.CreateCommand($"DELETE FROM {table} WHERE id = ANY ($1)");
        delete.Parameters.Add(new NpgsqlParameter<Guid[]> { TypedValue = [.. dead] });
        await delete.ExecuteNonQueryAsync(cancellationToken);
    }
}
