using System.Globalization;
using Npgsql;

namespace Kit.Endpoints.Bare.PostgreSql.TwoPhase;

/// <summary>
/// The decisions of a queue on the branches' own server. The transaction that received names the branch,
/// <c>kit/&lt;system identifier of the queue's server&gt;/&lt;oid of its database&gt;/&lt;transaction id&gt;</c>, and its outcome is the decision:
/// <c>pg_xact_status</c> is the durable record, so there is no table.
/// </summary>
/// <remarks>
/// One connection reads the decision and ends the branch, so that both happen on one server: after a failover, a clone may report as aborted a
/// receive that its origin committed. Every database of a server knows the outcome of its transactions.
/// </remarks>
internal sealed class ReceivesAsDecisions(QueueDatabase queue) : IDecisionLog
{
    /// <summary>Reads which receive a prepared transaction is the branch of.</summary>
    public static bool TryParse(string globalId, out QueueDatabase queue, out ulong transactionId)
    {
        (queue, transactionId) = (default, 0);
        if (globalId.Split('/') is not ["kit", var system, var database, var transaction]
            || !ulong.TryParse(system, NumberStyles.None, CultureInfo.InvariantCulture, out var systemIdentifier)
            || !uint.TryParse(database, NumberStyles.None, CultureInfo.InvariantCulture, out var databaseOid)
            || !ulong.TryParse(transaction, NumberStyles.None, CultureInfo.InvariantCulture, out transactionId))
            return false;

        queue = new QueueDatabase(systemIdentifier, databaseOid);
        return true;
    }

    /// <summary>The branch of a receive.</summary>
    public BranchId BranchOf(ulong transactionId) => new($"{queue.Prefix}{transactionId}");

    /// <summary>Decisions and ends are in one log, and a failover takes back the later ones only.</summary>
    public string? BeforeEnds => null;

    public SlotKin KinOf(SlotHolder holder)
    {
        if (WorkerBranch.TryParse(holder.GlobalId, out _))
            return WorkerBranch.KinOfAnother(holder);
        if (!TryParse(holder.GlobalId, out var of, out _) || of.SystemIdentifier != queue.SystemIdentifier)
            return SlotKin.Foreign;
        if (of == queue)
            return SlotKin.Own;
        return holder.HasQueueDatabase ? SlotKin.OfAnotherQueue : SlotKin.Lost;
    }

    public Task RequireAsync(NpgsqlConnection data, CancellationToken cancellationToken) => Task.CompletedTask;

    public Task RenewAsync(NpgsqlConnection data, CancellationToken cancellationToken) => Task.CompletedTask;

    /// <inheritdoc cref="BeforeEnds"/>
    public Task AwaitStandbysAsync(NpgsqlConnection data, CancellationToken cancellationToken) => Task.CompletedTask;

    /// <summary>A receive that is still open keeps its branch undecided, at any age.</summary>
    public Task<BranchDecision> ReadAsync(NpgsqlConnection data, BranchId branch, bool isYoung, CancellationToken cancellationToken) =>
        BranchDecisions.ReadAsync(data.CreateCommand(), TransactionIdOf(branch), cancellationToken);

    /// <summary>
    /// Checks once for each batch that this server committed the receives, because the workers' sessions may be on another server. After a
    /// failover, a promoted standby can have a branch whose receive never committed there. Its rows would be doubled when the message is redelivered.
    /// </summary>
    public async Task<long> RequireDecidedAsync(NpgsqlConnection data, IReadOnlyCollection<BranchId> branches)
    {
        var (decisions, used) = await ReadAsync(data, branches);
        return decisions.All(decision => decision is BranchDecision.Committed)
            ? used
            : throw new InvalidOperationException($"The server at {data.Host}:{data.Port} did not commit their receives; another server did.");
    }

    /// <summary>Asks for the decisions of several branches and for the slots in use, in one round trip.</summary>
    /// <inheritdoc cref="BranchDecisions.ReadAsync(NpgsqlConnection, IEnumerable{ulong})"/>
    public static Task<(IReadOnlyList<BranchDecision> Decisions, long UsedSlots)> ReadAsync(NpgsqlConnection connection, IEnumerable<BranchId> branches) =>
        BranchDecisions.ReadAsync(connection, branches.Select(TransactionIdOf));

    public void Ended(BranchId branch)
    {
        // The server keeps the outcome of its transactions by itself.
    }

    public Task TidyAsync(NpgsqlConnection data, CancellationToken cancellationToken) => Task.CompletedTask;

    private static ulong TransactionIdOf(BranchId branch) =>
        TryParse(branch.GlobalId, out _, out var id) ? id : throw new ArgumentException($"'{branch}' does not name a receive.", nameof(branch));
}
