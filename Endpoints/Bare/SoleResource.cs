using System.Runtime.ExceptionServices;
using System.Transactions;

namespace Kit.Endpoints.Bare;

/// <summary>
/// The only resource allowed in a handler's ambient transaction. It enlists before the handler runs. If it is alone, System.Transactions asks it
/// to commit. If another resource has enlisted, System.Transactions first asks this one to prepare, and it refuses, before anything else is
/// prepared: after a crash nobody would recover what another connection's driver had prepared (npgsql issue 1378).
/// </summary>
internal abstract class SoleResource : ISinglePhaseNotification
{
    public void EnlistIn(Transaction whole) => whole.EnlistVolatile(this, EnlistmentOptions.None);

    /// <summary>Commits without an ambient transaction.</summary>
    /// <exception cref="Exception">Why it did not commit.</exception>
    public async Task CommitAloneAsync()
    {
        if (await CommitAsync() is { } failure)
            ExceptionDispatchInfo.Throw(failure);
    }

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

    /// <summary>Does nothing: the owner of the local transaction ends it, because the handler may still use it on another thread.</summary>
    public void Rollback(Enlistment enlistment) => enlistment.Done();

    public void Commit(Enlistment enlistment) => enlistment.Done();

    public void InDoubt(Enlistment enlistment) => enlistment.Done();

    /// <summary>Commits. Does not throw.</summary>
    /// <returns>Why it did not commit, or <see langword="null"/>.</returns>
    protected abstract Task<Exception?> CommitAsync();

    /// <summary>Whether it is known that nothing has committed.</summary>
    protected virtual bool IsAborted(Exception failure) => failure is InvalidOperationException || PostgreSqlStatement.IsRefused(failure);
}
