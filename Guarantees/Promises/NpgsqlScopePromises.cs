using static Kit.Guarantees.DeliveryClass;

namespace Kit.Guarantees.Promises;

/// <summary>A driver's two-phase commit that nobody recovers: as one unit until a crash.</summary>
internal static class NpgsqlScopePromises
{
    public static PromiseTable Table { get; } = new(
        always: [Torn, InDoubt, Stuck, CleanError, Once])
    {
        { Fault.ThrowBeforeInsert, [Once] },
        { Fault.ThrowAfterInsert, [Once] },
        { Fault.Poison, [CleanError] },
        { Fault.KillBeforeCommit, [Torn, InDoubt, Stuck, Once] },
        { Fault.KillBetweenInserts, [Once] },
        { Fault.KillBeforeDispatch, [Once] },
        { Fault.KillBeforeAcknowledgement, [Once] },
        { Fault.CutAtCommit, [Torn, InDoubt, Stuck, Once] },
        { Fault.CutAtReceive, [Torn, InDoubt, Stuck, Once] },
        { Fault.RestartDatabase, [Torn, InDoubt, Stuck, Once] },
        { Fault.RestartBroker, [Once] },
        { Fault.LostDeadlock, [Once] },
        { Fault.SwallowedError, [Ghost] },
        { Fault.FailedCommit, [Once] },
        { Fault.FailedDispatch, [CleanError] },
        { Fault.LateQueue, [CleanError] },
        { Fault.ImmediateSend, [Ghost, DuplicatedOutgoing] },
        // The driver takes both connections into its two phases.
        { Fault.SecondConnection, [Once] },
        { Fault.KillAfterPrepare, [Torn, InDoubt, Stuck, Once] },
        { Fault.KillAfterDecision, [Torn, InDoubt, Stuck, Once] },
        // The driver un-enlists the connection, and what is written after that commits by itself.
        { Fault.ScopeTimesOut, [Torn] },
        { Fault.ReceiveLost, [Torn, InDoubt, Stuck, CleanError] },
        { Fault.DatabaseAway, [Torn, InDoubt, Stuck, Once] },
        { Fault.SlotsExhausted, [CleanError, Once] },
    };
}
