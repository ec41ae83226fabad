using System.Data;
using System.Data.Common;
using Npgsql;

namespace Kit.Endpoints.Bare.PostgreSql.TwoPhase;

/// <summary>An atomic unit that lends its handler a branch.</summary>
/// <param name="id">Names the transaction that received, and so the branch.</param>
/// <param name="data">The handlers' database. Must not enlist.</param>
/// <param name="isolation">The mode's isolation level.</param>
internal abstract class UnitWithBranch(BranchId id, NpgsqlDataSource data, IsolationLevel isolation) : SoleResource, IAsyncDisposable
{
    private readonly LentOnce<Branch> lent = new(cancellationToken => Branch.BeginAsync(id, data, isolation, cancellationToken));

    public BranchId Id => id;

    /// <summary>Why the server refused the handler a connection; <see langword="null"/> if it did not, or was not asked.</summary>
    public Exception? Refusal => lent.Refusal;

    protected NpgsqlDataSource Data => data;

    /// <summary>Whether there is no branch, or it is not prepared and cannot become so.</summary>
    protected bool IsGone => lent.Opened?.IsGone ?? true;

    /// <summary>The connection in the unit's transaction, even if the handler has opened or suppressed a scope.</summary>
    public async ValueTask<DbConnection> GetConnectionAsync(CancellationToken cancellationToken) => (await lent.GetAsync(cancellationToken)).Connection;

    /// <summary>The transaction of that connection.</summary>
    public async ValueTask<DbTransaction> GetTransactionAsync(CancellationToken cancellationToken) => (await lent.GetAsync(cancellationToken)).Lent;

    /// <summary>
    /// Returns the branch's connection, which rolls back an unprepared branch. That must not happen earlier: a handler whose transaction timed
    /// out may still use it.
    /// </summary>
    public async ValueTask DisposeAsync()
    {
        if (await EndLendingAsync() is { } branch)
            await branch.DisposeAsync();
    }

    /// <summary>Ends the lending: later requests fail.</summary>
    /// <returns>The branch; <see langword="null"/> if the handler asked for no connection.</returns>
    protected ValueTask<Branch?> EndLendingAsync() => lent.CloseAsync();
}
