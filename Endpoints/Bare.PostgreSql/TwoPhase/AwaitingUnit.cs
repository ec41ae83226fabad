using System.Transactions;
using Npgsql;
using IsolationLevel = System.Data.IsolationLevel;

namespace Kit.Endpoints.Bare.PostgreSql.TwoPhase;

/// <summary>
/// The atomic unit of one message that a framework receives: the same protocol as <see cref="AtomicUnit"/>, but the framework commits the queue's
/// transaction. The unit prepares its branch, and its own commit returns when the receiver has passed on the server's decision.
/// </summary>
/// <param name="id">Names the receive's transaction.</param>
/// <param name="server">The receive's server. The branch is prepared there or not at all.</param>
/// <param name="data">The handlers' database. Must not enlist.</param>
/// <param name="isolation">The mode's isolation level.</param>
internal sealed class AwaitingUnit(BranchId id, RunningServer server, NpgsqlDataSource data, IsolationLevel isolation)
    : UnitWithBranches([new BranchPlace("", id, data)], isolation)
{
    private readonly TaskCompletionSource ready = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private readonly TaskCompletionSource<BranchDecision> decided = new(TaskCreationOptions.RunContinuationsAsynchronously);

    public BranchId Id => id;

    /// <summary>Completes when the receive may commit. It never fails: if the unit cannot be prepared, its commit fails instead.</summary>
    public Task Ready => ready.Task;

    /// <summary>Whether there is a branch, and it is prepared.</summary>
    public bool IsPrepared { get; private set; }

    /// <summary>Whether the branch was on another server than the receive, and was not prepared. The failure is not the message's.</summary>
    public bool IsElsewhere { get; private set; }

    /// <summary>Whether the connection broke during PREPARE TRANSACTION, so that the branch may be prepared. Recovery ends it.</summary>
    public bool IsLeft => !IsPrepared && !IsGone;

    /// <summary>Ends the unit's commit, after <see cref="Ready"/>.</summary>
    /// <param name="decision">What became of the receive.</param>
    public void Decide(BranchDecision decision) => decided.TrySetResult(decision);

    protected override async Task<Exception?> CommitAsync()
    {
        try
        {
            if (await EndLendingAsync() is [var branch])
            {
                await PrepareAsync(branch);
                IsPrepared = true;
                // The second phase has connections of its own.
                await branch.DisposeAsync();
            }
        }
        catch (Exception failure)
        {
            return failure;
        }

        ready.SetResult();
        return await decided.Task switch
        {
            BranchDecision.Committed => null,
            BranchDecision.Aborted => new TransactionAbortedException("The transaction that received the message was rolled back."),
            var other => new NpgsqlException($"The receive's decision is {other}; expected Committed or Aborted. Recovery ends the branch."),
        };
    }

    /// <summary>Until it is ready, every failure aborts, because the receive is rolled back. Then only the queue's server knows.</summary>
    protected override bool IsAborted(Exception failure) => !ready.Task.IsCompleted || failure is TransactionAbortedException;

    /// <exception cref="ServerRefusedException">The branch is on another server than the receive, or no slot is free.</exception>
    private async Task PrepareAsync(Branch branch)
    {
        try
        {
            await branch.PrepareAsync(server.Require());
        }
        catch (PostgresException failure) when (RunningServer.IsElsewhere(failure))
        {
            IsElsewhere = true;
            throw new ServerRefusedException(failure);
        }
    }
}
