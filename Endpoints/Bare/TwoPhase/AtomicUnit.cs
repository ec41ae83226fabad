using System.Data.Common;
using System.Diagnostics;
using System.Transactions;
using Npgsql;

namespace Kit.Endpoints.Bare.TwoPhase;

/// <summary>
/// One message's receive, insert and sends as one atomic unit. The queue's transaction is enlisted as the durable single-phase
/// resource of the ambient transaction, so that System.Transactions prepares the handler's branch first and commits the queue last:
/// its commit is the decision, and its transaction id in <c>pg_xact_status</c> is the durable record of it.
/// </summary>
/// <remarks>
/// Presumed abort, as in Mohan, Lindsay and Obermarck, "Transaction management in the R* distributed database management system" (1986);
/// the last-resource commit saves the decision record.
/// </remarks>
internal sealed class AtomicUnit(NpgsqlTransaction decision, BranchId id, NpgsqlDataSource data) : IWork, ISinglePhaseNotification, IAsyncDisposable
{
    private static readonly Guid ResourceManager = new("6f0c1f5e-5f0d-4f3b-9d57-0b7c6e0f6a11");

    private readonly List<OutgoingMessage> sends = [];
    private Transaction? transaction;
    private Branch? branch;
    private bool decided;

    public IReadOnlyCollection<OutgoingMessage> Sends => sends;

    /// <summary>The branch to be committed now, once the unit has committed; none when the handler asked for no connection.</summary>
    public PreparedBranch? Prepared { get; private set; }

    /// <summary>
    /// After a failure: whether the queue's transaction is still open and may commit something else, because nothing is prepared
    /// that its commit would decide.
    /// </summary>
    public bool IsUndecided => !decided && (branch?.IsGone ?? true);

    public void EnlistIn(Transaction whole)
    {
        transaction = whole;
        whole.EnlistDurable(ResourceManager, this, EnlistmentOptions.None);
    }

    public async ValueTask<DbConnection> GetConnectionAsync(CancellationToken cancellationToken)
    {
        if (branch is null)
        {
            // In the unit's own transaction, whatever scope the handler has opened or suppressed meanwhile.
            branch = await Branch.BeginAsync(id, data, cancellationToken);
            transaction!.EnlistVolatile(branch, EnlistmentOptions.None);
        }

        return branch.Connection;
    }

    public Task SendAsync(OutgoingMessage message, CancellationToken cancellationToken)
    {
        sends.Add(message);
        return Task.CompletedTask;
    }

    public async void SinglePhaseCommit(SinglePhaseEnlistment singlePhaseEnlistment)
    {
        var failure = await DecideAsync();
        if (failure is null)
            singlePhaseEnlistment.Committed();
        else if (failure is PostgresException { InvariantSeverity: "ERROR" } or InvalidOperationException)
            singlePhaseEnlistment.Aborted(failure);
        else
            singlePhaseEnlistment.InDoubt(failure); // The connection broke: only the server knows the decision, and recovery asks it.
    }

    /// <summary>The owner of the queue's transaction ends it; there is nothing to do here.</summary>
    public void Rollback(Enlistment enlistment) => enlistment.Done();

    public void Prepare(PreparingEnlistment preparingEnlistment) =>
        preparingEnlistment.ForceRollback(new NotSupportedException(
            "The queue decides last and has no first phase; another durable resource was enlisted in the handler's transaction."));

    public void Commit(Enlistment enlistment) => enlistment.Done();

    public void InDoubt(Enlistment enlistment) => enlistment.Done();

    /// <summary>Waits until the branch has ended as far as it can, and gives its connection back.</summary>
    public ValueTask DisposeAsync() => branch?.DisposeAsync() ?? ValueTask.CompletedTask;

    private async Task<Exception?> DecideAsync()
    {
        try
        {
            if (branch is { IsPrepared: false })
                throw new InvalidOperationException("The branch is not prepared, and the decision is not made without it.");

            decided = true;
            await decision.CommitAsync();
            if (branch is not null)
                Prepared = new PreparedBranch(id, data, Stopwatch.GetTimestamp());

            return null;
        }
        catch (Exception failure)
        {
            return failure;
        }
    }
}
