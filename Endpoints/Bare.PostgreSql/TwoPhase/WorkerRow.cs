using System.Data;
using Npgsql;

namespace Kit.Endpoints.Bare.PostgreSql.TwoPhase;

/// <summary>
/// One worker's row in the queue's database, which lists the numbers of its units that are decided and whose branches may still be prepared. The list is
/// written by one UPDATE directly before the COMMIT of the receive, so the decision costs no flush of its own. A row that recovery has fenced is written no
/// more, and the worker goes on with a new session and a new row.
/// </summary>
/// <remarks>
/// Why it is correct: (1) A number is in the list only if the receive has committed, and then all its branches were prepared before. (2) After recovery has
/// fenced the row, no transaction can add a number, so that "not in the list" is final. (3) A number leaves the list only when all its branches have ended, so
/// that a prepared branch whose number is not in the list was never decided. No clock, no transaction id and no system identifier takes part.
/// </remarks>
internal sealed class WorkerRow : IDecider
{
    private readonly WorkerRows rows;
    private readonly Lock sync = new();
    private readonly HashSet<WorkerBranch> decided = [];
    private long last;
    private long? undecided;
    private bool isOver;
    private bool hasDecided;
    private PreparedDecide? decide;

    private WorkerRow(WorkerRows rows) => this.rows = rows;

    public Guid Id { get; } = Guid.CreateVersion7();

    public IReadOnlyDictionary<string, NpgsqlDataSource> Data => rows.Data;

    /// <summary>The queue's database and the others may be on any servers, but none may be a copy.</summary>
    public InvalidOperationException? Refusal => rows.Refusal;

    /// <summary>Whether the row decides nothing any more.</summary>
    public bool IsOver
    {
        get
        {
            lock (sync)
                return isOver;
        }
    }

    /// <summary>Whether it has decided a unit.</summary>
    public bool HasDecided
    {
        get
        {
            lock (sync)
                return hasDecided;
        }
    }

    /// <summary>Opens the row of a worker that receives on its own session.</summary>
    /// <inheritdoc cref="OpenApartAsync"/>
    public static async Task<WorkerRow> OpenAsync(WorkerRows rows, NpgsqlConnection queue, CancellationToken cancellationToken)
    {
        var row = await OpenApartAsync(rows, queue, cancellationToken);
        row.decide = new PreparedDecide(queue, row.Deciding([]));
        await row.decide.PrepareAsync(cancellationToken);
        return row;
    }

    /// <summary>Opens one for receives of other sessions.</summary>
    /// <param name="rows">The table of workers.</param>
    /// <param name="queue">Inserts the row, and takes the lock that shows that the worker lives.</param>
    /// <param name="cancellationToken">Cancels it.</param>
    /// <exception cref="NpgsqlException">The queue's database cannot be reached.</exception>
    public static async Task<WorkerRow> OpenApartAsync(WorkerRows rows, NpgsqlConnection queue, CancellationToken cancellationToken)
    {
        var row = new WorkerRow(rows);
        await rows.InsertAsync(queue, row.Id, cancellationToken);
        rows.Add(row);
        return row;
    }

    /// <inheritdoc cref="Of(IQueueTransaction)"/>
    public IDecision Of(NpgsqlTransaction receive, ulong transactionId) => Of(new OwnTransaction(receive, decide!));

    /// <exception cref="InvalidOperationException">
    /// The outcome of the last decision is not known: a later one would strike a number from the list whose branch may be prepared. Or there is a
    /// <see cref="Refusal"/>.
    /// </exception>
    public IDecision Of(IQueueTransaction receive)
    {
        // Before the handler: the session ends, its receive is rolled back, and no attempt is counted.
        if (Refusal is { } refusal)
            throw refusal;

        lock (sync)
        {
            if (isOver)
                throw new InvalidOperationException("The last commit of this session failed in doubt, or recovery has fenced it. A new session goes on.");

            undecided = ++last;
            return new Decision(this, receive, last);
        }
    }

    /// <summary>What this process knows of one of the worker's units; <see langword="null"/> if the worker is over, so that only its row tells.</summary>
    public BranchDecision? Of(long number)
    {
        lock (sync)
        {
            return isOver ? null
                : decided.Any(branch => branch.Number == number) ? BranchDecision.Committed
                : number == undecided ? BranchDecision.Undecided
                : BranchDecision.Aborted;
        }
    }

    /// <summary>The statement that writes the list: see <see cref="WorkerRows.Decide"/>.</summary>
    public NpgsqlBatchCommand Deciding(long[] open) => PostgreSqlStatement.Of(rows.Decide, open, Id);

    /// <summary>A branch has ended. If it was the last of its number, that leaves the list with the next decision.</summary>
    public void Ended(WorkerBranch branch)
    {
        lock (sync)
            decided.Remove(branch);
    }

    /// <summary>The worker decides nothing any more. From now on recovery reads its row.</summary>
    public async ValueTask DisposeAsync()
    {
        End();
        if (decide is not null)
            await decide.DisposeAsync();
    }

    private async Task CommitAsync(long number, IReadOnlyCollection<BranchId> branches, IQueueTransaction receive)
    {
        if (branches.Count == 0)
        {
            await receive.CommitAsync();
            return;
        }

        long[] open;
        lock (sync)
            open = [.. decided.Select(branch => branch.Number).Distinct(), number];
        try
        {
            using var standbys = StandbyWait.On(receive.Connection);
            await receive.DecideAsync(open);
            standbys.Require();
            lock (sync)
            {
                decided.UnionWith(branches.Select(WorkerBranch.Of));
                hasDecided = true;
            }
        }
        catch (PostgresException refused) when (PostgreSqlStatement.IsRefused(refused))
        {
            if (WorkerRows.IsFenced(refused))
            {
                End();
                throw new FencedException(refused);
            }

            // The receive is rolled back, and its number with it.
            await receive.EndRefusedAsync();
            throw;
        }
        catch (Exception failure)
        {
            // Only the queue's server knows whether it committed, and recovery asks it.
            End();
            throw failure as NpgsqlException is { } known and not PostgresException
                ? known
                : new NpgsqlException("The decision was not answered, and only the queue's server knows it.", failure);
        }
    }

    private void End()
    {
        lock (sync)
            isOver = true;
        rows.Remove(this);
    }

    private void Close(long number)
    {
        lock (sync)
        {
            if (undecided == number)
                undecided = null;
        }
    }

    private sealed class Decision(WorkerRow row, IQueueTransaction receive, long number) : IDecision
    {
        public BranchId BranchOf(string participant) => new WorkerBranch(row.rows.Queue, row.Id, number, participant).Id;

        // With the handler's own settings the server would not wait for its standbys, or not tell that it has stopped waiting, and a failover would lose
        // rows whose message is gone.
        public IEnumerable<NpgsqlBatchCommand> BeforePrepare => [StandbyWait.Setting];

        public Task CommitAsync(IReadOnlyCollection<BranchId> branches) => row.CommitAsync(number, branches, receive);

        public void Close() => row.Close(number);
    }

    /// <summary>The statement that decides, and the commit, prepared in the worker's session.</summary>
    private sealed class PreparedDecide : IAsyncDisposable
    {
        private readonly NpgsqlBatch batch;
        private readonly NpgsqlParameter open;

        public PreparedDecide(NpgsqlConnection queue, NpgsqlBatchCommand deciding)
        {
            open = deciding.Parameters[0];
            batch = new NpgsqlBatch(queue) { BatchCommands = { deciding, new NpgsqlBatchCommand("COMMIT") } };
        }

        public NpgsqlConnection Session => batch.Connection!;

        public Task PrepareAsync(CancellationToken cancellationToken) => batch.PrepareAsync(cancellationToken);

        public Task<int> ExecuteAsync(long[] numbers)
        {
            open.Value = numbers;
            return batch.ExecuteNonQueryAsync();
        }

        public ValueTask DisposeAsync() => batch.DisposeAsync();
    }

    /// <summary>A transaction of the worker's session.</summary>
    private sealed class OwnTransaction(NpgsqlTransaction receive, PreparedDecide decide) : IQueueTransaction
    {
        public NpgsqlConnection Connection => decide.Session;

        public Task CommitAsync() => receive.CommitAsync();

        public Task DecideAsync(long[] open) => decide.ExecuteAsync(open);

        // Whoever answers the failure begins a transaction, unless the driver has closed the session.
        public Task EndRefusedAsync() =>
            Connection.State == ConnectionState.Open ? PostgreSqlStatement.ExecuteAllAsync(Connection, "ROLLBACK") : Task.CompletedTask;
    }
}
