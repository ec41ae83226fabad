using Kit.Guarantees;
using Kit.Modes;
using static Kit.Guarantees.DeliveryClass;

namespace Kit.Endpoints.Cells;

/// <summary>Wolverine.</summary>
public static class FactsOfWolverine
{
    private static readonly TransactionMode[] Modes = [TransactionMode.ScopeOff, TransactionMode.Outbox];

    public static FrameworkFacts Facts { get; } = new("wolverine", "Wolverine")
    {
        // It marks the message in the inbox as handled.
        EndOfReceive =
            $"update \"{WolverineNames.Schema}\".{WolverineNames.Inbox} set status = '?', keep_until = $1, owner_id = ? where id = $2 and received_at = $3",
        ReceiveEndsWithRows = TransactionMode.Outbox,
        // A dead letter that cannot be stored in four tries, within a few seconds, is handled again after that.
        LongestPause = TimeSpan.FromSeconds(30),
        Limits =
        [
            // outbox: after a commit whose answer is lost it tries again, and that can fail.
            .. SharedLimits.OfQuickAttempts(Modes, afterRows: Modes, onABroker: Modes),
            .. from fault in new[] { Fault.RestartDatabase, Fault.DatabaseAway, null }
               select new KnownLimit(
                   TransportName.PostgreSql, [TransactionMode.ScopeOff], fault, Affected.Chosen, new HashSet<DeliveryClass> { DuplicatedOutgoing },
                   "its sends do not commit with the receive: they go out before the message is marked as handled, and a message that is handled again " +
                   "sends again (Wolverine 6.62.0)") { AlsoAfterAKill = true, AlsoAtAPoint = fault is null },
            .. from fault in new[] { Fault.RestartDatabase, Fault.DatabaseAway, null }
               select new KnownLimit(
                   TransportName.PostgreSql, [TransactionMode.ScopeOff], fault, Affected.Chosen, new HashSet<DeliveryClass> { Zombie },
                   "a send that cannot be stored in four tries, within half a second after the handler has returned, is dropped, and the message is marked " +
                   "as handled (Wolverine 6.62.0)")
               {
                   GivenUp = false,
                   AlsoAtAPoint = fault is null,
               },
            .. from fault in new[] { Fault.CutAtCommit, Fault.CutAtReceive, Fault.RestartDatabase, Fault.DatabaseAway, null }
               select new KnownLimit(
                   null, [TransactionMode.Outbox], fault, Affected.Chosen, new HashSet<DeliveryClass> { Duplicated, DuplicatedOutgoing },
                   "if the answer to its commit is lost, it handles the message again at once, without a look into the inbox, where the message is marked " +
                   "as handled (Wolverine 6.62.0)") { AlsoAtAPoint = fault is null },
            new(TransportName.PostgreSql, [TransactionMode.ScopeOff], Fault.ReceiveLost, Affected.Chosen, new HashSet<DeliveryClass> { Once },
                "it keeps more than is promised: the message is in the inbox, and its mark is written again until it is stored (Wolverine 6.62.0)"),
            new(TransportName.PostgreSql, [TransactionMode.ScopeOff], Fault.SentTwice, Affected.Chosen, new HashSet<DeliveryClass> { Once },
                "it keeps more than is promised: its inbox drops a copy of a message that it has (Wolverine 6.62.0)"),
            new(TransportName.PostgreSql, [TransactionMode.ScopeOff], Fault.LateQueue, Affected.Chosen, new HashSet<DeliveryClass> { Once },
                "it keeps more than is promised: the send is stored, and waits until the queue is there (Wolverine 6.62.0)"),
            new(TransportName.PostgreSql, [TransactionMode.Outbox], Fault.ReceiveLost, Affected.Chosen, new HashSet<DeliveryClass> { CleanError },
                "its mark in the inbox is in the handler's transaction: a cut of that connection is a failed attempt, and after three of them the message is " +
                "given up (Wolverine 6.62.0)"),
            .. from affected in new[] { Affected.Chosen, Affected.Bystander }
               select new KnownLimit(
                   TransportName.RabbitMq, [TransactionMode.ScopeOff], Fault: null, affected, new HashSet<DeliveryClass> { Zombie },
                   "a send that fails in four tries, within half a second, is dropped, and the message is acknowledged: while its connection for sends is " +
                   "away, about 5 s, so is the send of every message (Wolverine 6.62.0)")
               {
                   GivenUp = false,
                   AlsoAtAPoint = true,
               },
            new(TransportName.RabbitMq, [TransactionMode.ScopeOff], Fault.SendRefused, Affected.Chosen, new HashSet<DeliveryClass> { Zombie },
                "it acknowledges a message whose send the broker has refused (Wolverine 6.62.0)"),
            new(TransportName.RabbitMq, Modes, Fault.SendRefused, Affected.Bystander, new HashSet<DeliveryClass> { DuplicatedOutgoing },
                "the broker closes the channel on which a message is too large, and another handler's send on that channel is tried again although it has " +
                "arrived (Wolverine 6.62.0)"),
            .. from fault in new[] { Fault.LateQueue, Fault.FailedDispatch }
               select new KnownLimit(
                   TransportName.RabbitMq, [TransactionMode.Outbox], fault, Affected.Chosen, new HashSet<DeliveryClass> { Zombie },
                   "it publishes without the mandatory flag, so the broker drops a message to a queue that does not exist, and the outbox forgets it " +
                   "(Wolverine 6.62.0, issue 1650)"),
            new(TransportName.RabbitMq, [TransactionMode.ScopeOff], Fault.DeadLetterRefused, Affected.Chosen, new HashSet<DeliveryClass> { Lost },
                "it acknowledges a message that it has given up although the error queue has refused the copy (Wolverine 6.62.0)"),
            new(TransportName.RabbitMq, [TransactionMode.ScopeOff], Fault.ReceiveLost, Affected.Bystander, new HashSet<DeliveryClass> { Stuck },
                "a connection that is cut while its client recovers from the cut before is not recovered, and the endpoint receives nothing until it is " +
                "started again (Wolverine 6.62.0, RabbitMQ.Client 7.2.2, whose pull request 2004 mends it)"),
        ],
    };
}
