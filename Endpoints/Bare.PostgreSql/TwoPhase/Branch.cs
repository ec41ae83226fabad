using System.Data;
using Npgsql;

namespace Kit.Endpoints.Bare.PostgreSql.TwoPhase;

/// <summary>The handler's part of an atomic unit: a transaction that is prepared before the decision and ended after it.</summary>
internal sealed class Branch : IAsyncDisposable
{
    private readonly BranchId id;
    private readonly LocalTransaction local;
    private State state = State.Active;

    private Branch(BranchId id, LocalTransaction local)
    {
        this.id = id;
        this.local = local;
    }

    private enum State
    {
        Active,
        Unknown,
        Prepared,
        RolledBack,
    }

    public NpgsqlConnection Connection => local.Connection;

    /// <inheritdoc cref="LocalTransaction.Lent"/>
    public NpgsqlTransaction Lent => local.Lent;

    /// <summary>Whether nothing of it is left or can come back.</summary>
    public bool IsGone => state is State.Active or State.RolledBack;

    /// <param name="id">What it is prepared as.</param>
    /// <param name="data">Must not enlist by itself (<c>Enlist=false</c>).</param>
    /// <param name="isolation">The mode's.</param>
    /// <param name="cancellationToken">Cancels the opening.</param>
    public static async ValueTask<Branch> BeginAsync(BranchId id, NpgsqlDataSource data, IsolationLevel isolation, CancellationToken cancellationToken) =>
        new(id, await LocalTransaction.OpenAsync(data, isolation, cancellationToken));

    /// <exception cref="ServerRefusedException">All of <c>max_prepared_transactions</c> are in use, or something else that the server will have
    /// again; nothing is prepared.</exception>
    /// <exception cref="PostgresException">The server refuses; where the session lives on, nothing is prepared.</exception>
    /// <exception cref="NpgsqlException">The connection broke: it may be prepared.</exception>
    /// <exception cref="InvalidOperationException">The handler closed the connection: nothing is prepared.</exception>
    public async Task PrepareAsync()
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
        }
        catch (Exception failure) when (failure is PostgresException { InvariantSeverity: "ERROR" } or InvalidOperationException)
        {
            // An error of a lower severity than FATAL leaves the session, and in it the transaction failed: nothing was prepared.
            state = State.RolledBack;
            if (FailureKinds.IsRefusalToPrepare(failure))
                throw new ServerRefusedException(failure);

            throw;
        }
    }

    /// <summary>Ends it when the decision has failed. Where that cannot be done it stays prepared: recovery finds that its receive was rolled back.</summary>
    public async Task RollBackPreparedAsync()
    {
        try
        {
            await using var rollback = new NpgsqlCommand($"ROLLBACK PREPARED '{id}'", Connection);
            await rollback.ExecuteNonQueryAsync();
            state = State.RolledBack;
        }
        catch (NpgsqlException)
        {
            state = State.Unknown;
        }
    }

    public ValueTask DisposeAsync() => local.DisposeAsync();
}
