using Microsoft.Extensions.Logging;

namespace Kit.Endpoints.Bare.PostgreSql.TwoPhase;

/// <summary>
/// Reports, once each, the prepared transactions that no recovery will end: they hold slots and locks. Branches of another queue of the kit are
/// not among them while its database exists: that queue's own recovery ends them.
/// </summary>
internal sealed partial class OtherHolders(QueueDatabase own, ILogger log)
{
    private HashSet<(string, DateTime)> known = [];

    /// <param name="holders">All prepared transactions of the server.</param>
    /// <param name="olderThan">Younger ones are most likely ended in a moment by whoever prepared them.</param>
    public void Report(IReadOnlyList<SlotHolder> holders, TimeSpan olderThan)
    {
        var still = new HashSet<(string, DateTime)>();
        foreach (var holder in holders.Where(holder => holder.Age >= olderThan && !IsAQueues(holder)))
        {
            still.Add((holder.GlobalId, holder.PreparedUtc));
            if (!known.Contains((holder.GlobalId, holder.PreparedUtc)))
                Report(holder);
        }

        known = still;
    }

    private bool IsAQueues(SlotHolder holder) => IsOfThisServer(holder) && holder.HasQueueDatabase;

    private bool IsOfThisServer(SlotHolder holder) =>
        BranchId.TryParse(holder.GlobalId, out var branch) && branch.Queue.SystemIdentifier == own.SystemIdentifier;

    private void Report(SlotHolder holder)
    {
        if (IsOfThisServer(holder))
            LogForgotten(holder.GlobalId, holder.Owner, holder.Database, holder.Age.TotalSeconds);
        else
            LogForeign(holder.GlobalId, holder.Owner, holder.Database, holder.Age.TotalSeconds);
    }

    [LoggerMessage(Level = LogLevel.Error,
        Message = "Branch {Branch} of role {Owner} in database {Database} has been prepared for {Seconds:F0} s and stays so: " +
            "the database of its queue was dropped, and the decision with it. " +
            "It holds a slot and its locks. The command 'branches' shows its tables and ends it.")]
    private partial void LogForgotten(string branch, string owner, string database, double seconds);

    [LoggerMessage(Level = LogLevel.Warning,
        Message = "A prepared transaction that is not this endpoint's: '{GlobalId}' of role {Owner} in database {Database}, for {Seconds:F0} s. " +
            "It holds a slot and its locks, and recovery leaves it alone. The command 'branches' shows its tables and can end it.")]
    private partial void LogForeign(string globalId, string owner, string database, double seconds);
}
