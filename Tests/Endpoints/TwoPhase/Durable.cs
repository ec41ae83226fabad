using System.Transactions;

namespace Kit.Tests.TwoPhase;

/// <summary>A durable resource of an ambient transaction, which remembers whether it was asked to prepare.</summary>
internal sealed class Durable : ISinglePhaseNotification
{
    public bool HasPrepared { get; private set; }

    public void Prepare(PreparingEnlistment preparingEnlistment)
    {
        HasPrepared = true;
        preparingEnlistment.Prepared();
    }

    public void SinglePhaseCommit(SinglePhaseEnlistment singlePhaseEnlistment) => singlePhaseEnlistment.Committed();

    public void Commit(Enlistment enlistment) => enlistment.Done();

    public void Rollback(Enlistment enlistment) => enlistment.Done();

    public void InDoubt(Enlistment enlistment) => enlistment.Done();
}
