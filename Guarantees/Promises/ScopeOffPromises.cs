using static Kit.Guarantees.DeliveryClass;

namespace Kit.Guarantees.Promises;

/// <summary>As dtc-off, and each insert commits by itself: half an attempt stays.</summary>
internal static class ScopeOffPromises
{
    public static PromiseTable Table { get; } = new(
        always: [Torn, Duplicated, Zombie, DuplicatedOutgoing, CleanError, Once])
    {
        { Fault.ThrowBeforeInsert, [Once] },
        { Fault.ThrowAfterInsert, [Torn, Duplicated] },
        { Fault.Poison, [Torn, Duplicated, Zombie] },
        { Fault.KillBeforeCommit, [Once] },
        { Fault.KillBetweenInserts, [Torn, Duplicated] },
        { Fault.KillBeforeDispatch, [Duplicated] },
        { Fault.KillBeforeAcknowledgement, [Duplicated, DuplicatedOutgoing] },
        { Fault.CutAtCommit, [Torn, Duplicated, Once] },
        { Fault.CutAtReceive, [Duplicated, Once], [Duplicated, DuplicatedOutgoing, Once] },
        { Fault.RestartDatabase, [Torn, Duplicated, Once] },
        { Fault.RestartBroker, [Duplicated, DuplicatedOutgoing, Once] },
        { Fault.LostDeadlock, [Torn, Duplicated] },
        { Fault.SwallowedError, [Torn] },
        { Fault.FailedCommit, [Once] },
        { Fault.FailedDispatch, [Duplicated, Zombie] },
        { Fault.LateQueue, [Duplicated, Zombie] },
        { Fault.ImmediateSend, [Ghost, DuplicatedOutgoing] },
        { Fault.SecondConnection, [Once] },
        { Fault.KillAfterPrepare, [Once] },
        { Fault.KillAfterDecision, [Once] },
        { Fault.ScopeTimesOut, [Once] },
        // A framework can cancel the handler with the connection, between its inserts; each attempt leaves what it had inserted.
        { Fault.ReceiveLost, [Torn, Duplicated, Zombie] },
        { Fault.DatabaseAway, [Torn, Duplicated, Once] },
        { Fault.SlotsExhausted, [Once] },
    };
}
