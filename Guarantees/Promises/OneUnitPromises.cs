using static Kit.Guarantees.DeliveryClass;

namespace Kit.Guarantees.Promises;

/// <summary>Receive, rows and sends are one unit: nothing is seen of an attempt that failed.</summary>
internal static class OneUnitPromises
{
    public static PromiseTable Table { get; } = new(
        always: [CleanError, Once])
    {
        { Fault.ThrowBeforeInsert, [Once] },
        { Fault.ThrowAfterInsert, [Once] },
        { Fault.Poison, [CleanError] },
        { Fault.KillBeforeCommit, [Once] },
        { Fault.KillBetweenInserts, [Once] },
        { Fault.KillBeforeDispatch, [Once] },
        { Fault.KillBeforeAcknowledgement, [Once] },
        { Fault.CutAtCommit, [Once] },
        { Fault.CutAtReceive, [Once] },
        { Fault.RestartDatabase, [Once] },
        { Fault.RestartBroker, [Once] },
        { Fault.LostDeadlock, [Once] },
        { Fault.SwallowedError, [Once] },
        { Fault.FailedCommit, [Once] },
        { Fault.FailedDispatch, [CleanError] },
        // The message is given up before the queue is there. The outbox alone sends again when the message is done.
        { Fault.LateQueue, [CleanError] },
        // Whoever sends past the endpoint has left every mode.
        { Fault.ImmediateSend, [Ghost, DuplicatedOutgoing] },
        // The kit refuses a second connection in a transaction that recovers nothing else.
        { Fault.SecondConnection, [CleanError] },
        { Fault.KillAfterPrepare, [Once] },
        { Fault.KillAfterDecision, [Once] },
        { Fault.ScopeTimesOut, [Once] },
        { Fault.ReceiveLost, [CleanError] },
        { Fault.DatabaseAway, [Once] },
        { Fault.SlotsExhausted, [Once] },
    };
}
