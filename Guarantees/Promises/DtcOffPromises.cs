using static Kit.Guarantees.DeliveryClass;

namespace Kit.Guarantees.Promises;

/// <summary>Rows commit before the receive: what ends the process or the receive between them handles the message again.</summary>
internal static class DtcOffPromises
{
    public static PromiseTable Table { get; } = new(
        always: [Torn, Duplicated, Zombie, DuplicatedOutgoing, CleanError, Once])
    {
        { Fault.ThrowBeforeInsert, [Once] },
        { Fault.ThrowAfterInsert, [Once] },
        { Fault.Poison, [CleanError] },
        { Fault.KillBeforeCommit, [Once] },
        { Fault.KillBetweenInserts, [Once] },
        { Fault.KillBeforeDispatch, [Duplicated] },
        { Fault.KillBeforeAcknowledgement, [Duplicated, DuplicatedOutgoing] },
        { Fault.CutAtCommit, [Duplicated, Once] },
        { Fault.CutAtReceive, [Duplicated, Once], [Duplicated, DuplicatedOutgoing, Once] },
        { Fault.RestartDatabase, [Duplicated, Once] },
        { Fault.RestartBroker, [Duplicated, DuplicatedOutgoing, Once] },
        { Fault.LostDeadlock, [Once] },
        { Fault.SwallowedError, [Once] },
        { Fault.FailedCommit, [Once] },
        { Fault.FailedDispatch, [Duplicated, Zombie] },
        { Fault.LateQueue, [Duplicated, Zombie] },
        { Fault.ImmediateSend, [Ghost, DuplicatedOutgoing] },
        // The bare endpoint refuses it. Where a framework opens the scope, it is a known limit.
        { Fault.SecondConnection, [CleanError] },
        { Fault.KillAfterPrepare, [Once] },
        { Fault.KillAfterDecision, [Once] },
        { Fault.ScopeTimesOut, [Once] },
        // Handled as often as the mode allows, each time with its rows; then given up.
        { Fault.ReceiveLost, [Duplicated, Zombie] },
        { Fault.DatabaseAway, [Duplicated, Once] },
        { Fault.SlotsExhausted, [Once] },
    };
}
