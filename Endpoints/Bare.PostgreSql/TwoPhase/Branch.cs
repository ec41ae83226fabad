using System.Data;
using Npgsql;

namespace Kit.Endpoints.Bare.PostgreSql.TwoPhase;

/// <summary>The handler's part of an atomic unit: a transaction that is prepared before the decision and ended after it.</summary>
internal sealed class Branch : IAsyncDisposable
{
    private readonly LocalTransaction local;
    private State state = State.Active;

    private Branch(BranchPlace place, LocalTransaction local)
    {
        Place = place;
        this.local = local;
    }

    private enum State
    {
        Active,
        Unknown,
        Prepared,
        RolledBack,
    }

    public BranchPlace Place { get; }

    public NpgsqlConnection Connection => local.Connection;

    /// <inheritdoc cref="LocalTransaction.Lent"/>
    public NpgsqlTransaction Lent => local.Lent;

    /// <summary>Whether its server had no slot for it, or lacked something else that every branch needs.</summary>
    public bool FoundNoSlot { get; private set; }

    /// <summary>Whether it is not prepared and cannot become so.</summary>
    public bool IsGone => state is State.Active or State.RolledBack;

    /// <param name="place">Where it is.</param>
    /// <param name="isolation">The mode's isolation level.</param>
    /// <param name="cancellationToken">Cancels the opening.</param>
    public static async ValueTask<Branch> BeginAsync(BranchPlace place, IsolationLevel isolation, CancellationToken cancellationToken) =>
        new(place, await LocalTransaction.OpenToLendAsync(place.Data, isolation, cancellationToken));

    /// <param name="required">
    /// Statements that must succeed on the branch's own server before it is prepared, in the same round trip. If one fails, nothing is prepared.
    /// </param>
    /// <exception cref="NotPreparableException">The handler's SQL can never be prepared. Nothing is prepared.</exception>
    /// <exception cref="ServerRefusedException">
    /// All of <c>max_prepared_transactions</c>, or another resource of the server, are used up at the moment, or it prepares nothing any more, and nothing is
    /// prepared. Or the server stopped waiting for its standbys, and the branch is prepared.
    /// </exception>
    /// <exception cref="PostgresException">The server refuses. If the session is still open, nothing is prepared.</exception>
    /// <exception cref="NpgsqlException">The connection broke. The branch may be prepared.</exception>
    /// <exception cref="InvalidOperationException">The handler closed the connection, or ended the transaction. Nothing is prepared.</exception>
    public async Task PrepareAsync(params IEnumerable<NpgsqlBatchCommand> required)
    {
        // The last statement that can execute the handler's SQL: deferred triggers run as the role that the handler set, and what they raise is its failure.
        var handlers = new NpgsqlBatchCommand("SET CONSTRAINTS ALL IMMEDIATE");
        try
        {
            state = State.Unknown;
            using var standbys = StandbyWait.On(Connection);
            await local.EndAsync([
                handlers,
                // The role that prepares the branch owns it, and only its owner or a superuser may end it.
                new NpgsqlBatchCommand("RESET ROLE"), .. required, new NpgsqlBatchCommand(Place.Id.Prepare)]);
            standbys.Require();
            state = State.Prepared;
        }
        catch (Exception failure) when (failure is InvalidOperationException || PostgreSqlStatement.IsRefused(failure))
        {
            // The transaction has failed: nothing was prepared.
            state = State.RolledBack;
            if (failure is PostgresException refusal && PostgreSqlStatement.HasRun(handlers))
            {
                // The server was restarted with max_prepared_transactions = 0: no statement of a handler is left that could raise the same.
                FoundNoSlot = NpgsqlErrors.IsShortage(refusal) || refusal.SqlState == PostgresErrorCodes.ObjectNotInPrerequisiteState;
                if (FoundNoSlot)
                    throw new ServerRefusedException(refusal);
                if (refusal.SqlState == PostgresErrorCodes.FeatureNotSupported)
                    throw new NotPreparableException(refusal);
            }

            throw;
        }
    }

    /// <summary>
    /// If it is prepared, rolls it back, after a failed decision or before one. If that fails, it stays prepared, and recovery finds that its receive was
    /// rolled back.
    /// </summary>
    public async Task RollBackPreparedAsync()
    {
        if (state is not State.Prepared)
            return;

        try
        {
            await using var rollback = new NpgsqlCommand(Place.Id.RollBack, Connection);
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
