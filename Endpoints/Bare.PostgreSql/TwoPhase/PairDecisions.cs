using Npgsql;

namespace Kit.Endpoints.Bare.PostgreSql.TwoPhase;

/// <summary>The decisions of <see cref="WorkerRows"/> on the branches in one database.</summary>
internal sealed class PairDecisions(WorkerRows rows, ServerPair pair) : IDecisionLog
{
    /// <summary>A number leaves its worker's row when the ends of its branches were answered, so the server must not answer too early.</summary>
    public string? BeforeEnds => StandbyWait.OfSession;

    public SlotKin KinOf(SlotHolder holder)
    {
        if (WorkerBranch.TryParse(holder.GlobalId, out var branch))
        {
            if (branch.Queue != pair.Queue)
                return WorkerBranch.KinOfAnother(holder);
            // Not by its participant's name, which may have been that of another database.
            return !holder.IsHere && rows.Has(pair.BranchesOn, holder.DatabaseOid) ? SlotKin.OfAnotherQueue : SlotKin.Own;
        }

        // A branch of a queue on its own server, or of this one, before it moved.
        return ReceivesAsDecisions.TryParse(holder.GlobalId, out _, out _) && holder.HasQueueDatabase ? WorkerBranch.KinOfAnother(holder) : SlotKin.Foreign;
    }

    public Task RequireAsync(NpgsqlConnection data, CancellationToken cancellationToken) => pair.RequireAsync(data, cancellationToken);

    public Task RenewAsync(NpgsqlConnection data, CancellationToken cancellationToken) => pair.RenewAsync(data, cancellationToken);

    public Task AwaitStandbysAsync(NpgsqlConnection data, CancellationToken cancellationToken) => pair.AwaitStandbysAsync(data, cancellationToken);

    public Task<BranchDecision> ReadAsync(NpgsqlConnection data, BranchId branch, bool isYoung, CancellationToken cancellationToken) =>
        rows.ReadAsync(branch, isYoung, cancellationToken);

    /// <summary>The queue's server has answered the decisions, and no other can contradict it.</summary>
    public async Task<long> RequireDecidedAsync(NpgsqlConnection data, IReadOnlyCollection<BranchId> branches)
    {
        await using var count = new NpgsqlCommand(Slots.CountUsed, data);
        return (long)(await count.ExecuteScalarAsync())!;
    }

    public void Ended(BranchId branch) => rows.Ended(WorkerBranch.Of(branch));

    /// <summary>Deletes the rows of workers whose session has ended, and that have no branch any more in any database.</summary>
    public Task TidyAsync(NpgsqlConnection data, CancellationToken cancellationToken) => rows.TidyAsync(pair, data, cancellationToken);
}
