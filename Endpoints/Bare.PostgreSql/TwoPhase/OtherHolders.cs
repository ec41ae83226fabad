using Microsoft.Extensions.Logging;

namespace Kit.Endpoints.Bare.PostgreSql.TwoPhase;

/// <summary>
/// Reports, once each, the prepared transactions that no recovery will end. They hold slots and locks. Branches of another queue of the kit are
/// not reported while its database exists, because that queue's own recovery ends them.
/// </summary>
internal sealed partial class OtherHolders(IDecisionLog decisions, ILogger log)
{
    private HashSet<(string, DateTime)> known = [];

    /// <param name="holders">All prepared transactions of the server.</param>
    /// <param name="olderThan">Younger ones are not reported: their owner will most likely end them in a moment.</param>
    public void Report(IReadOnlyList<SlotHolder> holders, TimeSpan olderThan)
    {
        var still = new HashSet<(string, DateTime)>();
        foreach (var holder in holders.Where(holder => !holder.IsYoungerThan(olderThan)))
        {
            var kin = decisions.KinOf(holder);
            if (kin is SlotKin.Own or SlotKin.OfAnotherQueue)
                continue;

            still.Add((holder.GlobalId, holder.PreparedUtc));
            if (!known.Contains((holder.GlobalId, holder.PreparedUtc)))
                Report(holder, kin);
        }

        known = still;
    }

    private void Report(SlotHolder holder, SlotKin kin)
    {
        if (kin is SlotKin.Lost)
            LogForgotten(holder.GlobalId, holder.Owner, holder.Database, holder.Age.TotalSeconds);
        else
            LogForeign(holder.GlobalId, holder.Owner, holder.Database, holder.Age.TotalSeconds);
    }

    [LoggerMessage(Level = LogLevel.Error,
        Message = "Branch {Branch} of role {Owner} in database {Database} has been prepared for {Seconds:F0} s, and recovery cannot end it: " +
            "the database of its queue was dropped, and the decision with it. " +
            "It holds a slot and its locks. The command 'branches' shows its tables and ends it.")]
    private partial void LogForgotten(string branch, string owner, string database, double seconds);

    [LoggerMessage(Level = LogLevel.Warning,
        Message = "Prepared transaction '{GlobalId}' of role {Owner} in database {Database} does not belong to this endpoint. It has been prepared for " +
            "{Seconds:F0} s and holds a slot and its locks. Recovery does not end it. The command 'branches' shows its tables and can end it.")]
    private partial void LogForeign(string globalId, string owner, string database, double seconds);
}
