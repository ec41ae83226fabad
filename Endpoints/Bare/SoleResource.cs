using System.Transactions;
using Npgsql;

namespace Kit.Endpoints.Bare;

/// <summary>
/// The one resource of a handler's ambient transaction. It is enlisted before the handler runs. System.Transactions then asks it alone to
/// commit, or, when something else has been enlisted as well, asks it first to prepare. It refuses that, before anything else is prepared:
/// what the driver of another connection prepares, nobody would recover after a crash (npgsql issue 1378).
/// </summary>
internal abstract class SoleResource : ISinglePhaseNotification
{
    public void EnlistIn(Transaction whole) => whole.EnlistVolatile(this, EnlistmentOptions.None);

    public async void SinglePhaseCommit(SinglePhaseEnlistment singlePhaseEnlistment)
    {
        var failure = await CommitAsync();
        if (failure is null)
            singlePhaseEnlistment.Committed();
        else if (IsAborted(failure))
            singlePhaseEnlistment.Aborted(failure);
        else
            singlePhaseEnlistment.InDoubt(failure); // The connection broke: only the server knows whether it committed.
    }

    public void Prepare(PreparingEnlistment preparingEnlistment) =>
        preparingEnlistment.ForceRollback(new SecondEnlistmentException(EnlistedResources.DescribeOthers(preparingEnlistment, this)));

    /// <summary>The owner of the local transaction ends it: a handler may still be working in it, on another thread.</summary>
    public void Rollback(Enlistment enlistment) => enlistment.Done();

    public void Commit(Enlistment enlistment) => enlistment.Done();

    public void InDoubt(Enlistment enlistment) => enlistment.Done();

    /// <summary>Commits.</summary>
    /// <returns>Why it did not, or <see langword="null"/>. Nothing is thrown.</returns>
    protected abstract Task<Exception?> CommitAsync();

    /// <summary>Whether it is known that nothing has committed.</summary>
    protected virtual bool IsAborted(Exception failure) => failure is PostgresException { InvariantSeverity: "ERROR" } or InvalidOperationException;
}
