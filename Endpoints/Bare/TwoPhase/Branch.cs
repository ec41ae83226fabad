using System.Transactions;
using Kit.Modes;
using Npgsql;

namespace Kit.Endpoints.Bare.TwoPhase;

/// <summary>The handler's part of an atomic unit: a transaction that is prepared before the decision and ended after it.</summary>
internal sealed class Branch : IEnlistmentNotification, IAsyncDisposable
{
    private readonly BranchId id;
    private Task ended = Task.CompletedTask;
    private State state = State.Active;

    private Branch(BranchId id, NpgsqlConnection connection)
    {
        this.id = id;
        Connection = connection;
    }

    private enum State
    {
        Active,
        Unknown,
        Prepared,
        RolledBack,
    }

    public NpgsqlConnection Connection { get; }

    public bool IsPrepared => state is State.Prepared;

    /// <summary>Whether nothing of it is left or can come back.</summary>
    public bool IsGone => state is State.Active or State.RolledBack;

    /// <param name="id">What it is prepared as.</param>
    /// <param name="data">Must not enlist by itself (<c>Enlist=false</c>).</param>
    /// <param name="cancellationToken">Cancels the opening.</param>
    public static async Task<Branch> BeginAsync(BranchId id, NpgsqlDataSource data, CancellationToken cancellationToken)
    {
        var connection = await data.OpenConnectionAsync(cancellationToken);
        try
        {
            // The driver gives the same transaction object to whoever has the physical connection next: it is not kept here, and closing
            // the connection is what rolls back.
            await connection.BeginTransactionAsync(TransactionMode.Isolation, cancellationToken);
            return new Branch(id, connection);
        }
        catch
        {
            await connection.DisposeAsync();
            throw;
        }
    }

    public void Prepare(PreparingEnlistment preparingEnlistment) => ended = PrepareAsync(preparingEnlistment);

    /// <summary>The endpoint finishes the second phase, at once or in the background.</summary>
    public void Commit(Enlistment enlistment) => enlistment.Done();

    public void Rollback(Enlistment enlistment) => ended = RollbackAsync(enlistment);

    /// <summary>Left prepared: recovery asks the queue's server for the decision.</summary>
    public void InDoubt(Enlistment enlistment) => enlistment.Done();

    /// <summary>Waits until a roll-back under way has ended, and gives the connection back.</summary>
    public async ValueTask DisposeAsync()
    {
        await ended;
        await Connection.DisposeAsync();
    }

    private async Task PrepareAsync(PreparingEnlistment enlistment)
    {
        try
        {
            LentWork.RequireOpen(Connection);
            // In a failed transaction, and outside of one, PostgreSQL answers PREPARE TRANSACTION with ROLLBACK and no error, and the
            // driver does not look (npgsql issue 6641). A savepoint is an error in both.
            state = State.Unknown;
            await using var prepare = new NpgsqlBatch(Connection)
            {
                BatchCommands = { new NpgsqlBatchCommand("SAVEPOINT kit"), new NpgsqlBatchCommand($"PREPARE TRANSACTION '{id}'") },
            };
            await prepare.ExecuteNonQueryAsync();
            state = State.Prepared;
            enlistment.Prepared();
        }
        catch (Exception failure)
        {
            // An error of a lower severity than FATAL leaves the session, and in it the transaction failed: nothing was prepared.
            if (failure is PostgresException { InvariantSeverity: "ERROR" } or InvalidOperationException)
                state = State.RolledBack;

            enlistment.ForceRollback(failure);
        }
    }

    private async Task RollbackAsync(Enlistment enlistment)
    {
        try
        {
            if (state == State.Prepared)
            {
                await using var rollback = new NpgsqlCommand($"ROLLBACK PREPARED '{id}'", Connection);
                await rollback.ExecuteNonQueryAsync();
                state = State.RolledBack;
            }
        }
        catch (NpgsqlException)
        {
            // Stays prepared: the receive is rolled back too, and recovery finds that decision.
            state = State.Unknown;
        }

        enlistment.Done();
    }
}
