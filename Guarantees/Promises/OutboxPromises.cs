using static Kit.Guarantees.DeliveryClass;

namespace Kit.Guarantees.Promises;

/// <summary>The rows exactly once; the sends at least once, with the same id.</summary>
internal static class OutboxPromises
{
    public static PromiseTable Table { get; } = new(
        always: [DuplicatedOutgoing, CleanError, Once])
    {
        { Fault.ThrowBeforeInsert, [Once] },
        { Fault.ThrowAfterInsert, [Once] },
        { Fault.Poison, [CleanError] },
        { Fault.KillBeforeCommit, [Once] },
        { Fault.KillBetweenInserts, [Once] },
        // The process that is to die has committed, and until it is dead its dispatcher can have sent.
        { Fault.KillBeforeDispatch, [DuplicatedOutgoing, Once] },
        { Fault.KillBeforeAcknowledgement, [DuplicatedOutgoing, Once] },
        { Fault.CutAtCommit, [Once] },
        // The server of a queue in a database tells a living process what became of its commit.
        { Fault.CutAtReceive, [Once], [DuplicatedOutgoing, Once] },
        // What is dispatched and not known to be is dispatched again.
        { Fault.RestartDatabase, [DuplicatedOutgoing, Once] },
        { Fault.RestartBroker, [DuplicatedOutgoing, Once] },
        { Fault.LostDeadlock, [Once] },
        { Fault.SwallowedError, [Once] },
        { Fault.FailedCommit, [Once] },
        // The rows are committed with what is to be sent, and the message is done. The dispatcher goes on trying.
        { Fault.FailedDispatch, [Zombie] },
        { Fault.LateQueue, [DuplicatedOutgoing, Once] },
        { Fault.ImmediateSend, [Ghost, DuplicatedOutgoing] },
        { Fault.SecondConnection, [Once] },
        { Fault.KillAfterPrepare, [Once] },
        { Fault.KillAfterDecision, [Once] },
        { Fault.ScopeTimesOut, [Once] },
        { Fault.ReceiveLost, [Once], [DuplicatedOutgoing, Once] },
        { Fault.DatabaseAway, [DuplicatedOutgoing, Once] },
        { Fault.SlotsExhausted, [Once] },
    };
}
