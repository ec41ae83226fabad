using System.Data;
using System.Data.Common;
using System.Diagnostics;

namespace Kit.Endpoints.Bare.PostgreSql.TwoPhase;

/// <summary>
/// The receive, inserts and sends of one message, or of one batch, as one atomic unit. The unit of a message is the sole resource of its handler's ambient
/// transaction; the unit of a batch commits without one. A unit prepares its branches, and then commits the queue's transaction. That commit is the
/// decision, and its durable record is in the <see cref="IDecisionLog"/>.
/// </summary>
/// <remarks>
/// Presumed abort, as in Mohan, Lindsay and Obermarck, "Transaction management in the R* distributed database management system" (1986).
/// Committing the last resource saves a separate flush for the decision.
/// </remarks>
internal sealed class AtomicUnit(IDecision decision, IReadOnlyList<BranchPlace> places, IsolationLevel isolation) : UnitWithBranches(places, isolation), IWork
{
    private readonly List<OutgoingMessage> sends = [];

    public IReadOnlyCollection<OutgoingMessage> Sends => sends;

    /// <summary>After the unit's commit, the branches to commit next; empty if the handler asked for no connection.</summary>
    public IReadOnlyList<(string Participant, PreparedBranch Branch)> Prepared { get; private set; } = [];

    /// <summary>Whether the commit of the queue's transaction was tried. If it failed, the transaction has ended.</summary>
    public bool HasTriedToDecide { get; private set; }

    /// <summary>
    /// After a failure: whether the queue's transaction is still open and may commit something else, because its commit would decide no
    /// prepared branch.
    /// </summary>
    public bool IsUndecided => !HasTriedToDecide && IsGone;

    /// <summary>After a failure: the branches that are, or could be, prepared. Recovery ends them.</summary>
    public IReadOnlyList<BranchPlace> Left => Prepared.Count > 0 ? [] : NotGone;

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
            var branches = await EndLendingAsync();
            await PrepareAsync(branches);
            await DecideAsync(branches);
            return null;
        }
        catch (Exception failure)
        {
            return failure;
        }
    }

    /// <summary>Before the decision, every failure aborts. If the connection breaks at the decision, only the server knows the outcome.</summary>
    protected override bool IsAborted(Exception failure) => !HasTriedToDecide || base.IsAborted(failure);

    /// <summary>Prepares all branches side by side. Returns if all are prepared; of the others none is left prepared that can be rolled back.</summary>
    private async Task PrepareAsync(IReadOnlyList<Branch> branches)
    {
        var preparing = branches.Select(branch => branch.PrepareAsync(decision.BeforePrepare)).ToList();
        try
        {
            // Also after a failure it waits for all.
            await Task.WhenAll(preparing);
        }
        catch
        {
            await RollBackAsync(branches);
            throw;
        }
    }

    private async Task DecideAsync(IReadOnlyList<Branch> branches)
    {
        try
        {
            HasTriedToDecide = true;
            await decision.CommitAsync([.. branches.Select(branch => branch.Place.Id)]);
            var decided = Stopwatch.GetTimestamp();
            Prepared = [.. branches.Select(branch => (branch.Place.Participant, new PreparedBranch(branch.Place.Id, branch.Place.Data, decided)))];
        }
        catch (Exception failure) when (base.IsAborted(failure))
        {
            await RollBackAsync(branches);
            throw;
        }
    }

    private static Task RollBackAsync(IReadOnlyList<Branch> branches) => Task.WhenAll(branches.Select(branch => branch.RollBackPreparedAsync()));
}
