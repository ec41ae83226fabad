using Kit.Modes;
using static Kit.Guarantees.DeliveryClass;

namespace Kit.Guarantees;

/// <summary>
/// The columns of the promises that <see cref="Fault"/> states, and the promise under whatever goes wrong. Modes that promise the same share a column;
/// <see cref="Columns"/> says which mode has which.
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
    public static IReadOnlySet<DeliveryClass> Of(Fault fault, TransactionMode mode, bool isBroker) =>
        Columns.Of(mode)(isBroker ? fault.PromiseOnBroker : fault.Promise);

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
