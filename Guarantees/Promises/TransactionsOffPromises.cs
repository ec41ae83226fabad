using static Kit.Guarantees.DeliveryClass;

namespace Kit.Guarantees.Promises;

/// <summary>The receive has committed before the handler: nothing is handled again.</summary>
internal static class TransactionsOffPromises
{
    public static PromiseTable Table { get; } = new(
        always: [Torn, Ghost, Zombie, Lost, CleanError, Once])
    {
        { Fault.ThrowBeforeInsert, [CleanError] },
        { Fault.ThrowAfterInsert, [Torn, Zombie] },
        { Fault.Poison, [Torn, Zombie] },
        { Fault.KillBeforeCommit, [Lost] },
        { Fault.KillBetweenInserts, [Torn, Zombie] },
        { Fault.KillBeforeDispatch, [Zombie] },
        { Fault.KillBeforeAcknowledgement, [Once] },
        { Fault.CutAtCommit, [Torn, Zombie, CleanError] },
        { Fault.CutAtReceive, [Zombie, Lost, Once] },
        { Fault.RestartDatabase, [Torn, Zombie, Lost, CleanError, Once], [Torn, Zombie, CleanError, Once] },
        { Fault.RestartBroker, [Zombie, Lost, Once] },
        { Fault.LostDeadlock, [Torn, Zombie] },
        { Fault.SwallowedError, [Torn] },
        { Fault.FailedCommit, [CleanError] },
        { Fault.FailedDispatch, [Zombie] },
        { Fault.LateQueue, [Zombie] },
        { Fault.ImmediateSend, [Ghost, DuplicatedOutgoing] },
        { Fault.SecondConnection, [Once] },
        { Fault.KillAfterPrepare, [Once] },
        { Fault.KillAfterDecision, [Once] },
        { Fault.ScopeTimesOut, [Once] },
        { Fault.ReceiveLost, [Once] },
        { Fault.DatabaseAway, [Torn, Zombie, Lost, CleanError, Once], [Torn, Zombie, CleanError, Once] },
        { Fault.SlotsExhausted, [Once] },
    };
}
