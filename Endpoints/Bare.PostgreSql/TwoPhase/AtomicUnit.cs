using System.Data;
using System.Data.Common;
using System.Diagnostics;
using Npgsql;

namespace Kit.Endpoints.Bare.PostgreSql.TwoPhase;

/// <summary>
/// The receive, inserts and sends of one message, or of one batch, as one atomic unit. The unit of a message is the sole resource of its handler's ambient
/// transaction; the unit of a batch commits without one. A unit prepares the branch, and then commits the queue's transaction. That commit is the
/// decision, and its durable record is in the <see cref="IDecisionLog"/>.
/// </summary>
/// <remarks>
/// Presumed abort, as in Mohan, Lindsay and Obermarck, "Transaction management in the R* distributed database management system" (1986).
/// Committing the last resource saves a separate flush for the decision.
/// </remarks>
internal sealed class AtomicUnit(IDecision decision, NpgsqlDataSource data, IsolationLevel isolation)
    : UnitWithBranch(decision.Branch, data, isolation), IWork
{
    private readonly List<OutgoingMessage> sends = [];

    public IReadOnlyCollection<OutgoingMessage> Sends => sends;

    /// <summary>After the unit's commit, the branch to commit next; <see langword="null"/> if the handler asked for no connection.</summary>
    public PreparedBranch? Prepared { get; private set; }

    /// <summary>Whether the commit of the queue's transaction was tried. If it failed, the transaction has ended.</summary>
    public bool HasTriedToDecide { get; private set; }

    /// <summary>
    /// After a failure: whether the queue's transaction is still open and may commit something else, because its commit would decide no
    /// prepared branch.
    /// </summary>
    public bool IsUndecided => !HasTriedToDecide && IsGone;

    /// <summary>After a failure: whether the branch is, or could be, prepared. Recovery ends it.</summary>
    public bool IsLeft => Prepared is null && !IsGone;

    async ValueTask<DbTransaction?> IWork.GetTransactionAsync(CancellationToken cancellationToken) => await GetTransactionAsync(cancellationToken);

    public Task SendAsync(OutgoingMessage message, CancellationToken cancellationToken)
    {
        sends.Add(message);
        return Task.CompletedTask;
    }

    protected override async Task<Exception?> CommitAsync()
    {
        try
        {
            var branch = await EndLendingAsync();
            if (branch is not null)
                await branch.PrepareAsync(decision.BeforePrepare);

            await DecideAsync(branch);
            return null;
        }
        catch (Exception failure)
        {
            return failure;
        }
    }

    /// <summary>Before the decision, every failure aborts. If the connection breaks at the decision, only the server knows the outcome.</summary>
    protected override bool IsAborted(Exception failure) => !HasTriedToDecide || base.IsAborted(failure);

    private async Task DecideAsync(Branch? branch)
    {
        try
        {
            HasTriedToDecide = true;
            await decision.CommitAsync(hasBranch: branch is not null);
            if (branch is not null)
                Prepared = new PreparedBranch(Id, Data, Stopwatch.GetTimestamp());
        }
        catch (Exception failure) when (base.IsAborted(failure))
        {
            if (branch is not null)
                await branch.RollBackPreparedAsync();

            throw;
        }
    }
}
