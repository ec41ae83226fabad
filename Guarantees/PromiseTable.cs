using Kit.Modes;
using static Kit.Guarantees.DeliveryClass;

namespace Kit.Guarantees;

/// <summary>
/// What each mode promises under each fault, side by side: an entry that leaves a column out does not compile. Modes that promise the same
/// share a column; <see cref="Columns"/> says which mode has which.
/// </summary>
internal static class PromiseTable
{
    // No handler itself throws, so only a mode that does not retry gives a message up: after a connection failure.
    private static readonly PromiseRow WhateverGoesWrong = new(
        OneUnit: [Once], DtcOff: [Duplicated, Once], ScopeOff: [Torn, Duplicated, Once], TransactionsOff: [Torn, Zombie, Lost, CleanError, Once],
        NpgsqlScope: [Torn, InDoubt, Stuck, Once], Outbox: [DuplicatedOutgoing, Once]);

    /// <summary>The same with a broker's queue: sends are separate messages.</summary>
    private static readonly PromiseRow WhateverGoesWrongOnBroker = WhateverGoesWrong with
    {
        DtcOff = [Duplicated, DuplicatedOutgoing, Once],
        ScopeOff = [Torn, Duplicated, DuplicatedOutgoing, Once],
    };

    // The depth of the drain changes how many messages there are, not their class.
    private static readonly PromiseRow QueueServerCrashes = new(
        OneUnit: [Once], DtcOff: [Duplicated, Once], ScopeOff: [Duplicated, Once], TransactionsOff: [Zombie, Lost, Once],
        NpgsqlScope: [Torn, InDoubt, Stuck, Once], Outbox: [DuplicatedOutgoing, Once]);

    private static readonly Dictionary<Fault, PromiseRow> Rows = new()
    {
        // Two messages in every mode but outbox, which remembers ids. In outbox both workers can dispatch the sends that one of them committed.
        [Fault.SentTwice] = new(
            OneUnit: [Duplicated, DuplicatedOutgoing], DtcOff: [Duplicated, DuplicatedOutgoing], ScopeOff: [Duplicated, DuplicatedOutgoing],
            TransactionsOff: [Duplicated, DuplicatedOutgoing], NpgsqlScope: [Duplicated, DuplicatedOutgoing],
            Outbox: [DuplicatedOutgoing, Once]),
        [Fault.ThrowBeforeInsert] = new(
            OneUnit: [Once], DtcOff: [Once], ScopeOff: [Once], TransactionsOff: [CleanError], NpgsqlScope: [Once], Outbox: [Once]),
        [Fault.ThrowAfterInsert] = new(
            OneUnit: [Once], DtcOff: [Once], ScopeOff: [Torn, Duplicated], TransactionsOff: [Torn, Zombie], NpgsqlScope: [Once], Outbox: [Once]),
        [Fault.Poison] = new(
            OneUnit: [CleanError], DtcOff: [CleanError], ScopeOff: [Torn, Duplicated, Zombie], TransactionsOff: [Torn, Zombie],
            NpgsqlScope: [CleanError], Outbox: [CleanError]),
        [Fault.KillBeforeCommit] = new(
            OneUnit: [Once], DtcOff: [Once], ScopeOff: [Once], TransactionsOff: [Lost], NpgsqlScope: [Torn, InDoubt, Stuck, Once], Outbox: [Once]),
        [Fault.KillBetweenInserts] = new(
            OneUnit: [Once], DtcOff: [Once], ScopeOff: [Torn, Duplicated], TransactionsOff: [Torn, Zombie], NpgsqlScope: [Once], Outbox: [Once]),
        // outbox: the process has committed, and its dispatcher can send before the process is dead.
        [Fault.KillBeforeDispatch] = new(
            OneUnit: [Once], DtcOff: [Duplicated], ScopeOff: [Duplicated], TransactionsOff: [Zombie], NpgsqlScope: [Once],
            Outbox: [DuplicatedOutgoing, Once]),
        // The rows are there, and the message must be sent too: a message that is acknowledged before its send is not handled again. outbox: the
        // dispatcher has a connection of its own, and can send before the process is dead.
        [Fault.KillAtDispatch] = new(
            OneUnit: [Once], DtcOff: [Duplicated], ScopeOff: [Duplicated], TransactionsOff: [Zombie], NpgsqlScope: [Once],
            Outbox: [DuplicatedOutgoing, Once]),
        [Fault.KillBeforeAcknowledgement] = new(
            OneUnit: [Once], DtcOff: [Duplicated, DuplicatedOutgoing], ScopeOff: [Duplicated, DuplicatedOutgoing], TransactionsOff: [Once],
            NpgsqlScope: [Once], Outbox: [DuplicatedOutgoing, Once]),
        [Fault.CutAtCommit] = new(
            OneUnit: [Once], DtcOff: [Duplicated, Once], ScopeOff: [Torn, Duplicated, Once], TransactionsOff: [Torn, Zombie, CleanError],
            NpgsqlScope: [Torn, InDoubt, Stuck, Once], Outbox: [Once]),
        // outbox: with a queue in a database, a living process can ask the server what became of its commit.
        [Fault.CutAtReceive] = new(
            OneUnit: [Once], DtcOff: [Duplicated, Once], ScopeOff: [Duplicated, Once], TransactionsOff: [Zombie, Lost, Once],
            NpgsqlScope: [Torn, InDoubt, Stuck, Once], Outbox: [Once]),
        // outbox: a send that was dispatched without the outbox knowing it is dispatched again.
        [Fault.RestartDatabase] = new(
            OneUnit: [Once], DtcOff: [Duplicated, Once], ScopeOff: [Torn, Duplicated, Once], TransactionsOff: [Torn, Zombie, Lost, CleanError, Once],
            NpgsqlScope: [Torn, InDoubt, Stuck, Once], Outbox: [DuplicatedOutgoing, Once]),
        [Fault.RestartBroker] = QueueServerCrashes,
        [Fault.RestartBrokerHalfway] = QueueServerCrashes,
        [Fault.RestartBrokerLate] = QueueServerCrashes,
        [Fault.LostDeadlock] = new(
            OneUnit: [Once], DtcOff: [Once], ScopeOff: [Torn, Duplicated], TransactionsOff: [Torn, Zombie], NpgsqlScope: [Once], Outbox: [Once]),
        [Fault.SwallowedError] = new(
            OneUnit: [Once], DtcOff: [Once], ScopeOff: [Torn], TransactionsOff: [Torn], NpgsqlScope: [Ghost], Outbox: [Once]),
        [Fault.FailedCommit] = new(
            OneUnit: [Once], DtcOff: [Once], ScopeOff: [Once], TransactionsOff: [CleanError], NpgsqlScope: [Once], Outbox: [Once]),
        // outbox: the rows have committed with the sends, and the message is done. The dispatcher keeps trying.
        [Fault.FailedDispatch] = new(
            OneUnit: [CleanError], DtcOff: [Duplicated, Zombie], ScopeOff: [Duplicated, Zombie], TransactionsOff: [Zombie], NpgsqlScope: [CleanError],
            Outbox: [Zombie]),
        // The message is given up before the queue exists. Only outbox still sends after the message is done.
        [Fault.LateQueue] = new(
            OneUnit: [CleanError], DtcOff: [Duplicated, Zombie], ScopeOff: [Duplicated, Zombie], TransactionsOff: [Zombie], NpgsqlScope: [CleanError],
            Outbox: [DuplicatedOutgoing, Once]),
        // No mode covers a send that does not use the endpoint.
        [Fault.ImmediateSend] = new(
            OneUnit: [Ghost, DuplicatedOutgoing], DtcOff: [Ghost, DuplicatedOutgoing], ScopeOff: [Ghost, DuplicatedOutgoing],
            TransactionsOff: [Ghost, DuplicatedOutgoing], NpgsqlScope: [Ghost, DuplicatedOutgoing], Outbox: [Ghost, DuplicatedOutgoing]),
        // One unit: the kit refuses a second connection, because its recovery covers only the first. dtc-off: the bare endpoint refuses it; where
        // a framework opens the scope, it is a known limit. npgsql-scope: the driver commits both connections in its two phases.
        [Fault.SecondConnection] = new(
            OneUnit: [CleanError], DtcOff: [CleanError], ScopeOff: [Once], TransactionsOff: [Once], NpgsqlScope: [Once], Outbox: [Once])
        {
            // Without the kit's own two-phase commit, the second connection commits with the first, or autocommits.
            OneUnitOfAnother = [Once],
        },
        [Fault.KillAfterPrepare] = new(
            OneUnit: [Once], DtcOff: [Once], ScopeOff: [Once], TransactionsOff: [Once], NpgsqlScope: [Torn, InDoubt, Stuck, Once], Outbox: [Once]),
        [Fault.KillAfterDecision] = new(
            OneUnit: [Once], DtcOff: [Once], ScopeOff: [Once], TransactionsOff: [Once], NpgsqlScope: [Torn, InDoubt, Stuck, Once], Outbox: [Once]),
        // npgsql-scope: the driver un-enlists the connection, and later writes and sends autocommit; the message is handled again.
        [Fault.ScopeTimesOut] = new(
            OneUnit: [Once], DtcOff: [Once], ScopeOff: [Once], TransactionsOff: [Once],
            NpgsqlScope: [Torn, Duplicated, DuplicatedOutgoing], Outbox: [Once]),
        // dtc-off: handled as often as the mode allows, each time with its rows; then given up. scope-off: when the connection is cut, a framework
        // can cancel the handler between its inserts; each attempt leaves its inserts behind.
        [Fault.ReceiveLost] = new(
            OneUnit: [CleanError], DtcOff: [Duplicated, Zombie], ScopeOff: [Torn, Duplicated, Zombie], TransactionsOff: [Once],
            NpgsqlScope: [Torn, InDoubt, Stuck, CleanError], Outbox: [Once]),
        [Fault.DatabaseAway] = new(
            OneUnit: [Once], DtcOff: [Duplicated, Once], ScopeOff: [Torn, Duplicated, Once], TransactionsOff: [Torn, Zombie, Lost, CleanError, Once],
            NpgsqlScope: [Torn, InDoubt, Stuck, Once], Outbox: [DuplicatedOutgoing, Once]),
        // The silence is shorter than every time limit: neither side gives the other up.
        [Fault.NetworkSilent] = new(
            OneUnit: [Once], DtcOff: [Once], ScopeOff: [Once], TransactionsOff: [Once], NpgsqlScope: [Once], Outbox: [Once]),
        [Fault.SlotsExhausted] = new(
            OneUnit: [Once], DtcOff: [Once], ScopeOff: [Once], TransactionsOff: [Once], NpgsqlScope: [CleanError, Once], Outbox: [Once]),
        // No row was written, so the next attempt is the first. transactions-off: there is none, and the error queue is on the same server. outbox: a
        // send that was dispatched without the outbox knowing it is dispatched again.
        [Fault.ServerReadOnly] = new(
            OneUnit: [Once], DtcOff: [Once], ScopeOff: [Once], TransactionsOff: [Lost, CleanError], NpgsqlScope: [Once],
            Outbox: [DuplicatedOutgoing, Once]),
        // dtc-off, scope-off: the rows have committed before the send fails. transactions-off: and nothing is tried again. outbox: they have committed with
        // the send, which is refused for ever.
        [Fault.SendRefused] = new(
            OneUnit: [Once], DtcOff: [Duplicated], ScopeOff: [Duplicated], TransactionsOff: [Zombie], NpgsqlScope: [Once], Outbox: [Zombie]),
        // The message stays in its queue until it is stored. transactions-off: it has left its queue, and only the process still has it.
        [Fault.DeadLetterRefused] = new(
            OneUnit: [CleanError], DtcOff: [CleanError], ScopeOff: [CleanError], TransactionsOff: [Lost, CleanError], NpgsqlScope: [CleanError],
            Outbox: [CleanError]),
        // The endpoint's own statements find its own tables, whatever the handler has set, and so does the next message.
        [Fault.SettingsLeft] = new(
            OneUnit: [Once], DtcOff: [Once], ScopeOff: [Once], TransactionsOff: [Once], NpgsqlScope: [Once], Outbox: [Once]),
    };

    /// <summary>What differs with a broker's queue: acknowledgements and sends are then separate messages.</summary>
    private static readonly Dictionary<Fault, Func<PromiseRow, PromiseRow>> OnBroker = new()
    {
        [Fault.CutAtReceive] = row => row with
        {
            DtcOff = [Duplicated, DuplicatedOutgoing, Once],
            ScopeOff = [Duplicated, DuplicatedOutgoing, Once],
            Outbox = [DuplicatedOutgoing, Once],
        },
        [Fault.RestartDatabase] = row => row with { TransactionsOff = [Torn, Zombie, CleanError, Once] },
        [Fault.RestartBroker] = Redelivers,
        [Fault.RestartBrokerHalfway] = Redelivers,
        [Fault.RestartBrokerLate] = Redelivers,
        [Fault.ReceiveLost] = row => row with { Outbox = [DuplicatedOutgoing, Once] },
        [Fault.DatabaseAway] = row => row with { TransactionsOff = [Torn, Zombie, CleanError, Once] },
        [Fault.ServerReadOnly] = row => row with { TransactionsOff = [CleanError] },
    };

    // An acknowledged message that is redelivered is one message more.
    private static PromiseRow Redelivers(PromiseRow row) => row with
    {
        DtcOff = [Duplicated, DuplicatedOutgoing, Once],
        ScopeOff = [Duplicated, DuplicatedOutgoing, Once],
        NpgsqlScope = [Once],
    };

    /// <summary>
    /// The column of each mode. <c>full-dtc-promoted</c> and <c>shared</c> promise the same as <c>full-dtc</c>, unless a row says otherwise.
    /// </summary>
    private static readonly ByMode<Func<PromiseRow, IReadOnlySet<DeliveryClass>>> Columns = new("the promises under faults")
    {
        { [TransactionMode.FullDtc, TransactionMode.FullDtcWaiting], row => row.OneUnit },
        { [TransactionMode.FullDtcPromoted, TransactionMode.Shared], row => row.OneUnitOfAnother ?? row.OneUnit },
        { TransactionMode.DtcOff, row => row.DtcOff },
        { TransactionMode.ScopeOff, row => row.ScopeOff },
        { TransactionMode.TransactionsOff, row => row.TransactionsOff },
        { TransactionMode.NpgsqlScope, row => row.NpgsqlScope },
        { TransactionMode.Outbox, row => row.Outbox },
    };

    /// <exception cref="UnknownModeException">The mode has no column.</exception>
    /// <exception cref="NotSupportedException">The fault has no entry.</exception>
    public static IReadOnlySet<DeliveryClass> Of(Fault fault, TransactionMode mode, bool isBroker)
    {
        var column = Columns.Of(mode);
        if (!Rows.TryGetValue(fault, out var row))
            throw new NotSupportedException($"No promise is defined for fault '{fault}'. Add it to {nameof(PromiseTable)}.");

        return column(isBroker && OnBroker.TryGetValue(fault, out var changed) ? changed(row) : row);
    }

    /// <summary>How many messages a kill or a cut may affect: with a queue in a database, and with a broker's.</summary>
    private static readonly ByMode<(Reach Table, Reach Broker)> Reaches = new("the promises under faults")
    {
        {
            [TransactionMode.FullDtc, TransactionMode.FullDtcWaiting, TransactionMode.FullDtcPromoted, TransactionMode.Shared],
            (Reach.None, Reach.None)
        },
        { [TransactionMode.DtcOff, TransactionMode.ScopeOff], (Reach.Handled, Reach.Pushed) },
        { TransactionMode.NpgsqlScope, (Reach.Unbounded, Reach.Unbounded) },
        { TransactionMode.TransactionsOff, (Reach.HandledAndNext, Reach.Unbounded) },
        { TransactionMode.Outbox, (Reach.HandledOrSent, Reach.Pushed) },
    };

    /// <inheritdoc cref="FaultPromise.Always"/>
    public static StormPromise Always(TransactionMode mode, bool isBroker)
    {
        var (table, broker) = Reaches.Of(mode);
        return new StormPromise(Columns.Of(mode)(isBroker ? WhateverGoesWrongOnBroker : WhateverGoesWrong), isBroker ? broker : table);
    }
}

/// <summary>The classes that a message may end in, for each way in which modes commit.</summary>
/// <param name="OneUnit">Receive, rows and sends are one unit: a failed attempt leaves nothing behind.</param>
/// <param name="DtcOff">Rows commit before the receive: if the process or the receive fails between them, the message is handled again.</param>
/// <param name="ScopeOff">As dtc-off, and each insert autocommits: half an attempt stays.</param>
/// <param name="TransactionsOff">The receive commits before the handler runs: nothing is handled again.</param>
/// <param name="NpgsqlScope">The driver's two-phase commit, which nothing recovers: one unit until a crash.</param>
/// <param name="Outbox">The rows exactly once; the sends at least once, with the same id.</param>
internal sealed record PromiseRow(
    HashSet<DeliveryClass> OneUnit, HashSet<DeliveryClass> DtcOff, HashSet<DeliveryClass> ScopeOff,
    HashSet<DeliveryClass> TransactionsOff, HashSet<DeliveryClass> NpgsqlScope, HashSet<DeliveryClass> Outbox)
{
    /// <summary>
    /// One unit without the kit's own two-phase commit, if its promise differs from <see cref="OneUnit"/>.
    /// </summary>
    public HashSet<DeliveryClass>? OneUnitOfAnother { get; init; }
}
