using Kit.Endpoints.Bare.Health;
using Microsoft.Extensions.Logging;
using Npgsql;

namespace Kit.Endpoints.Bare.PostgreSql.TwoPhase;

/// <summary>
/// Ends the branches that a crash, a broken connection or a failed second phase left prepared. The <see cref="IDecisionLog"/> says whether a branch is
/// committed or rolled back. Recovery leaves undecided branches and those of other queues alone.
/// Several processes may recover the same queue: a decision never changes, so they all do the same.
/// </summary>
/// <param name="data">The handlers' database, where branches are ended.</param>
/// <param name="decisions">The record of the decisions.</param>
/// <param name="log">Logs the branches that were ended, and those that cannot be.</param>
/// <param name="slots">Notes how many slots are in use, and which branches left to recovery have ended.</param>
/// <param name="elsewhere">Reaches another database of the same server; by default none is reached.</param>
internal sealed partial class Recovery(
    NpgsqlDataSource data, IDecisionLog decisions, ILogger log, Slots? slots = null, Func<string, NpgsqlDataSource>? elsewhere = null)
{
    // A branch in another database can belong to another endpoint whose queue is in the same database, and that is ended by that endpoint's recovery.
    private static readonly TimeSpan AgeElsewhere = TimeSpan.FromMinutes(1);

    // A branch that is not decided by then waits for something that an operator must see.
    private static readonly TimeSpan AgeUndecided = TimeSpan.FromMinutes(1);

    private readonly OtherHolders others = new(decisions, log);
    private bool isRefused;

    /// <summary>The branches of this queue still prepared after the last pass, without young ones; 0 before the first pass.</summary>
    public int Left { get; private set; }

    /// <summary>Ends the branches that can be ended now.</summary>
    /// <param name="olderThan">
    /// Younger branches are left alone, because their own second phase is most likely under way. Branches that were left to recovery are ended
    /// at any age.
    /// </param>
    /// <param name="cancellationToken">Cancels it between two branches.</param>
    /// <returns>How many branches were ended.</returns>
    /// <exception cref="NpgsqlException">A database cannot be reached.</exception>
    public async Task<int> RunAsync(TimeSpan olderThan, CancellationToken cancellationToken)
    {
        // Taken before the prepared branches are read: a branch that is left later may not be among them.
        var left = slots?.Left ?? [];
        await using var connection = await OpenAsync(cancellationToken);
        var holders = await SlotHolder.ReadAllAsync(connection, cancellationToken);
        slots?.Saw(holders.Count);
        others.Report(holders, olderThan);

        var (ended, stay) = (0, 0);
        var prepared = new HashSet<BranchId>();
        foreach (var (holder, branch) in OfThisQueue(holders.Where(holder => holder.IsHere)))
        {
            prepared.Add(branch);
            // A question would fence its worker, who would never get ahead while the standby is slow.
            if (holder.IsWaiting)
                continue;
            if (holder.IsYoungerThan(olderThan) && !left.Contains(branch))
                continue;
            var isYoung = holder.IsYoungerThan(AgeUndecided) && !left.Contains(branch);
            var hasEnded = await TryEndAsync(connection, branch, holder.Owner, isYoung, cancellationToken);
            if (hasEnded is true)
                ended++;
            else if (hasEnded is false)
                stay++;
        }

        foreach (var group in holders.Where(holder => !holder.IsHere && !holder.IsYoungerThan(AgeElsewhere)).GroupBy(holder => holder.Database))
        {
            var there = OfThisQueue(group).ToList();
            var endedThere = there.Count == 0 ? 0 : await EndElsewhereAsync(group.Key, there, cancellationToken);
            (ended, stay) = (ended + endedThere, stay + there.Count - endedThere);
        }

        Left = stay;
        var goneBranches = left.Where(branch => !prepared.Contains(branch)).ToList();
        if (goneBranches.Count > 0)
            await decisions.AwaitStandbysAsync(connection, cancellationToken);
        foreach (var gone in goneBranches)
            slots!.ReturnLeft(gone);

        await decisions.TidyAsync(connection, cancellationToken);
        return ended;
    }

    private async Task<NpgsqlConnection> OpenAsync(CancellationToken cancellationToken)
    {
        NpgsqlConnection? opened = null;
        try
        {
            opened = await data.OpenConnectionAsync(cancellationToken);
            await decisions.RenewAsync(opened, cancellationToken);
            isRefused = false;
            return opened;
        }
        catch (Exception failure)
        {
            if (failure is InvalidOperationException && !isRefused)
                LogApart(failure.Message);
            isRefused = failure is InvalidOperationException;
            if (opened is not null)
                await opened.DisposeAsync();
            throw;
        }
    }

    private IEnumerable<(SlotHolder Holder, BranchId Branch)> OfThisQueue(IEnumerable<SlotHolder> holders) =>
        holders.Where(holder => decisions.KinOf(holder) is SlotKin.Own).Select(holder => (holder, new BranchId(holder.GlobalId)));

    /// <summary>
    /// Ends branches of the queue that lie in another database, where the handlers' was before, for example. Any session of the server may: the decision
    /// never changes.
    /// </summary>
    private async Task<int> EndElsewhereAsync(
        string name, List<(SlotHolder Holder, BranchId Branch)> branches, CancellationToken cancellationToken)
    {
        var ended = 0;
        try
        {
            await using var source = elsewhere is null ? throw new NotSupportedException("this recovery reaches one database") : elsewhere(name);
            await using var connection = await source.OpenConnectionAsync(cancellationToken);
            foreach (var (holder, branch) in branches)
            {
                if (await TryEndAsync(connection, branch, holder.Owner, isYoung: false, cancellationToken) is true)
                    ended++;
            }
        }
        catch (Exception unreachable) when (unreachable is NpgsqlException or NotSupportedException)
        {
            LogElsewhere(branches.Count - ended, name, unreachable.Message);
        }

        return ended;
    }

    /// <returns>Whether it is ended; <see langword="null"/> if it is young, and its unit goes on.</returns>
    private async Task<bool?> TryEndAsync(
        NpgsqlConnection connection, BranchId branch, string owner, bool isYoung, CancellationToken cancellationToken)
    {
        var decision = await decisions.ReadAsync(connection, branch, isYoung, cancellationToken);
        if (decision is BranchDecision.Unknown)
            LogUnknown(branch.ToString());

        return BranchDecisions.StatementOf(decision, branch) is { } end
            ? await TryEndAsync(connection, end, branch, owner, cancellationToken)
            : isYoung && decision is BranchDecision.Undecided ? null : false;
    }

    private async Task<bool> TryEndAsync(
        NpgsqlConnection connection, string statement, BranchId branch, string owner, CancellationToken cancellationToken)
    {
        try
        {
            await EndAsync(connection, statement, owner);
            LogEnded(statement);
            EndpointMeter.RecoveredBranches.Add(1);
            slots?.ReturnLeft(branch);
            return true;
        }
        catch (PostgresException taken) when (taken.SqlState is PostgresErrorCodes.UndefinedObject or PostgresErrorCodes.ObjectNotInPrerequisiteState)
        {
            // Its own second phase or another process has just ended it or is about to.
            return false;
        }
        catch (PostgresException notOurs) when (notOurs.SqlState == PostgresErrorCodes.InsufficientPrivilege)
        {
            LogNotAllowed(branch.ToString(), owner);
            return false;
        }
        catch (PostgresException refused)
        {
            LogRefused(branch.ToString(), refused.MessageText);
            return false;
        }
    }

    private async Task EndAsync(NpgsqlConnection connection, string statement, string owner)
    {
        try
        {
            await BranchEnds.ExecuteAsync(connection, [statement], decisions.BeforeEnds);
        }
        catch (PostgresException refused) when (refused.SqlState == PostgresErrorCodes.InsufficientPrivilege)
        {
            await EndAsOwnerAsync(connection, statement, owner);
        }
    }

    /// <summary>
    /// Only the role that prepared a branch may end it, but the endpoint may have a new role, or the handler may have changed it. A member of that
    /// role can switch to it.
    /// </summary>
    private static async Task EndAsOwnerAsync(NpgsqlConnection connection, string statement, string owner)
    {
        await PostgreSqlStatement.ExecuteAllAsync(connection, $"SET ROLE {PostgreSqlStatement.Quoted(owner)}");
        try
        {
            await BranchEnds.ExecuteAsync(connection, [statement]);
        }
        finally
        {
            await PostgreSqlStatement.ExecuteAllAsync(connection, "RESET ROLE");
        }
    }

    [LoggerMessage(Level = LogLevel.Error, Message = "Nothing is handled and no branch is ended. {Reason}")]
    private partial void LogApart(string reason);

    [LoggerMessage(Level = LogLevel.Information, Message = "Recovered: {Statement}")]
    private partial void LogEnded(string statement);

    [LoggerMessage(Level = LogLevel.Error, Message = "Branch {Branch} stays prepared: {Reason}")]
    private partial void LogRefused(string branch, string reason);

    [LoggerMessage(Level = LogLevel.Error,
        Message = "Branch {Branch} stays prepared and holds its locks: role \"{Owner}\" prepared it, " +
            "and this endpoint's role is not allowed to end it. GRANT \"{Owner}\" to this endpoint's role, " +
            "or end the branch with the command 'branches' as that role or a superuser.")]
    private partial void LogNotAllowed(string branch, string owner);

    [LoggerMessage(Level = LogLevel.Error,
        Message = "{Count} branches of this queue stay prepared in database {Database} and hold their locks, and recovery cannot go there: {Reason} " +
            "End them with the command 'branches'.")]
    private partial void LogElsewhere(int count, string database, string reason);

    [LoggerMessage(Level = LogLevel.Critical,
        Message = "Branch {Branch} stays prepared and holds its locks: its queue's server no longer knows the decision. " +
            "Find its rows through pg_locks, then COMMIT PREPARED or ROLLBACK PREPARED it by hand.")]
    private partial void LogUnknown(string branch);
}
