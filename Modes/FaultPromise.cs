using static Kit.Modes.DeliveryClass;

namespace Kit.Modes;

/// <summary>
/// What a mode promises under a fault: the classes that a message which meets it may be of. Every other message is promised
/// <see cref="Once"/>. What follows from the modes' definitions is written here; what a framework, a driver or a broker makes of it is observed,
/// and where it is known and less, it is a <see cref="KnownLimit"/>.
/// </summary>
public static class FaultPromise
{
    /// <summary>The classes that the message may be of that meets the fault; with a server that crashes, every message.</summary>
    /// <param name="fault">What goes wrong.</param>
    /// <param name="mode">How transactional the handler is.</param>
    /// <param name="isBroker">
    /// Whether the queue is a broker's: acknowledgements and sends are then messages of their own, and a database that is away
    /// does not keep messages from being received, failed and given up.
    /// </param>
    public static IReadOnlySet<DeliveryClass> Of(Fault fault, TransactionMode mode, bool isBroker)
    {
        ArgumentNullException.ThrowIfNull(fault);
        ArgumentNullException.ThrowIfNull(mode);
        // Only the outbox sends again when the message is done: for every other mode the queue comes too late.
        if (fault == Fault.LateQueue && mode != TransactionMode.Outbox)
            return Of(Fault.FailedDispatch, mode, isBroker);
        // Whoever sends past the endpoint has left every mode.
        if (fault == Fault.ImmediateSend)
            return Set(Ghost, DuplicatedOutgoing);
        if (fault == Fault.SecondConnection)
            return OfSecondConnection(mode);
        if (mode.CrashEffect is CrashEffect.LeavesInDoubt)
            return OfDriversTwoPhases(fault);
        if (mode == TransactionMode.TransactionsOff)
            return OfTransactionsOff(fault, isBroker);
        if (mode == TransactionMode.ScopeOff)
            return OfScopeOff(fault, isBroker);
        if (mode == TransactionMode.DtcOff)
            return OfDtcOff(fault, isBroker);
        if (mode == TransactionMode.Outbox)
            return OfOutbox(fault, isBroker);

        return OfOneUnit(fault);
    }

    /// <summary>What holds for each message whatever goes wrong, and how often.</summary>
    public static IReadOnlySet<DeliveryClass> Always(TransactionMode mode)
    {
        ArgumentNullException.ThrowIfNull(mode);
        return mode.CrashEffect switch
        {
            // What it sends comes once more with the same id, for the receiver to know it again.
            _ when mode == TransactionMode.Outbox => Set(Once, CleanError, DuplicatedOutgoing),
            CrashEffect.None => Set(Once, CleanError),
            CrashEffect.Doubles => Set(Once, CleanError, Duplicated, DuplicatedOutgoing, Zombie, Torn),
            CrashEffect.Loses => Set(Once, CleanError, Lost, Zombie, Torn, Ghost),
            _ => Set(Once, CleanError, InDoubt, Torn, Stuck),
        };
    }

    /// <summary>
    /// The kit refuses a second connection in a transaction that recovers nothing else. Where the framework opens the scope, the driver's own
    /// two-phase commit takes both; a crash between its phases is another fault. Without an ambient transaction the connection commits by itself.
    /// </summary>
    private static HashSet<DeliveryClass> OfSecondConnection(TransactionMode mode) => mode switch
    {
        _ when mode == TransactionMode.DtcOff || mode == TransactionMode.FullDtc || mode == TransactionMode.FullDtcWaiting => Set(CleanError),
        _ => Set(Once),
    };

    private static HashSet<DeliveryClass> OfOneUnit(Fault fault) =>
        fault == Fault.Poison || fault == Fault.FailedDispatch || fault == Fault.ReceiveLost ? Set(CleanError) : Set(Once);

    /// <summary>Whether the database is away: no message is given up for that, because no attempt counts that the server refuses.</summary>
    private static bool IsOutage(Fault fault) => fault == Fault.RestartDatabase || fault == Fault.DatabaseAway;

    /// <summary>The rows exactly once; the sends at least once, with the same id.</summary>
    private static HashSet<DeliveryClass> OfOutbox(Fault fault, bool isBroker) => fault switch
    {
        // The rows are committed with what is to be sent, and the message is done. The dispatcher goes on trying.
        _ when fault == Fault.FailedDispatch => Set(Zombie),
        _ when fault == Fault.LateQueue => Set(Once, DuplicatedOutgoing),
        // The server of a queue in a database tells a living process what became of its commit.
        _ when fault == Fault.CutAtReceive && !isBroker => Set(Once),
        _ when fault == Fault.KillBeforeAcknowledgement || fault == Fault.CutAtReceive || fault == Fault.RestartBroker => Set(Once, DuplicatedOutgoing),
        // What is dispatched and not known to be is dispatched again.
        _ when IsOutage(fault) => Set(Once, DuplicatedOutgoing),
        _ when fault == Fault.ReceiveLost => isBroker ? Set(Once, DuplicatedOutgoing) : Set(Once),
        _ => OfOneUnit(fault),
    };

    private static HashSet<DeliveryClass> OfDtcOff(Fault fault, bool isBroker) => fault switch
    {
        _ when fault == Fault.Poison => Set(CleanError),
        _ when fault == Fault.KillBeforeDispatch => Set(Duplicated),
        _ when fault == Fault.KillBeforeAcknowledgement => Set(Duplicated, DuplicatedOutgoing),
        _ when fault == Fault.CutAtCommit => Set(Once, Duplicated),
        _ when fault == Fault.CutAtReceive => isBroker ? Set(Once, Duplicated, DuplicatedOutgoing) : Set(Once, Duplicated),
        _ when IsOutage(fault) => Set(Once, Duplicated),
        _ when fault == Fault.RestartBroker => Set(Once, Duplicated, DuplicatedOutgoing),
        // Handled as often as the mode allows, each time with its rows; then given up.
        _ when fault == Fault.ReceiveLost => Set(Duplicated, Zombie),
        _ when fault == Fault.FailedDispatch => Set(Duplicated, Zombie),
        _ => Set(Once),
    };

    private static HashSet<DeliveryClass> OfScopeOff(Fault fault, bool isBroker) => fault switch
    {
        _ when fault == Fault.ThrowAfterInsert || fault == Fault.KillBetweenInserts || fault == Fault.LostDeadlock => Set(Torn, Duplicated),
        _ when fault == Fault.Poison => Set(Torn, Duplicated, Zombie),
        _ when fault == Fault.CutAtCommit => Set(Once, Torn, Duplicated),
        _ when IsOutage(fault) => Set(Once, Torn, Duplicated),
        _ when fault == Fault.SwallowedError => Set(Torn),
        _ => OfDtcOff(fault, isBroker),
    };

    private static HashSet<DeliveryClass> OfTransactionsOff(Fault fault, bool isBroker) => fault switch
    {
        _ when fault == Fault.ThrowBeforeInsert || fault == Fault.FailedCommit => Set(CleanError),
        _ when fault == Fault.ThrowAfterInsert || fault == Fault.Poison || fault == Fault.LostDeadlock || fault == Fault.KillBetweenInserts => Set(Torn, Zombie),
        _ when fault == Fault.KillBeforeCommit => Set(Lost),
        _ when fault == Fault.KillBeforeDispatch || fault == Fault.FailedDispatch => Set(Zombie),
        _ when fault == Fault.CutAtCommit => Set(Torn, Zombie, CleanError),
        _ when IsOutage(fault) => isBroker ? Set(Once, Torn, Zombie, CleanError) : Set(Once, Torn, Zombie, CleanError, Lost),
        _ when fault == Fault.CutAtReceive || fault == Fault.RestartBroker => Set(Once, Lost, Zombie),
        _ when fault == Fault.SwallowedError => Set(Torn),
        _ => Set(Once),
    };

    /// <summary>A driver's two-phase commit without recovery: as one unit until a crash.</summary>
    private static HashSet<DeliveryClass> OfDriversTwoPhases(Fault fault) => fault switch
    {
        _ when fault == Fault.KillBeforeCommit || fault == Fault.CutAtCommit || fault == Fault.CutAtReceive || fault == Fault.RestartDatabase
            || fault == Fault.KillAfterPrepare || fault == Fault.KillAfterDecision || fault == Fault.DatabaseAway => Set(Once, InDoubt, Torn, Stuck),
        _ when fault == Fault.SwallowedError => Set(Ghost),
        // The driver un-enlists the connection, and what is written after that commits by itself.
        _ when fault == Fault.ScopeTimesOut => Set(Torn),
        _ when fault == Fault.ReceiveLost => Set(CleanError, InDoubt, Torn, Stuck),
        _ when fault == Fault.SlotsExhausted => Set(Once, CleanError),
        _ => OfOneUnit(fault),
    };

    private static HashSet<DeliveryClass> Set(params DeliveryClass[] classes) => [.. classes];
}
