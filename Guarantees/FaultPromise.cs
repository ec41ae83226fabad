using Kit.Modes;
using static Kit.Guarantees.DeliveryClass;

namespace Kit.Guarantees;

/// <summary>
/// What a mode promises under a fault: the classes that a message may end in when it meets the fault. Every other message is promised
/// <see cref="DeliveryClass.Once"/>. <see cref="Fault"/> states what follows from the modes' definitions. The experiments observe what a
/// framework, a driver or a broker really does; if one is known to keep less than the promise, that is a <see cref="KnownLimit"/>.
/// </summary>
public static class FaultPromise
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
    /// The column of each mode: modes that promise the same share one. <c>full-dtc-promoted</c> and <c>shared</c> promise the same as <c>full-dtc</c>, unless
    /// a row says otherwise.
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
        { TransactionMode.Outbox, (Reach.HandledOrSent, Reach.HandledOrSent) },
    };

    /// <summary>The classes that the message that meets the fault may end in. If a server crashes, that is every message.</summary>
    /// <param name="fault">What goes wrong.</param>
    /// <param name="mode">How transactional the handler is.</param>
    /// <param name="isBroker">
    /// Whether a broker holds the queue. Acknowledgements and sends are then separate messages, and while the database is down, messages are
    /// still received, fail and are given up.
    /// </param>
    /// <exception cref="UnknownModeException">No promise is defined.</exception>
    public static IReadOnlySet<DeliveryClass> Of(Fault fault, TransactionMode mode, bool isBroker)
    {
        ArgumentNullException.ThrowIfNull(fault);
        ArgumentNullException.ThrowIfNull(mode);
        return Columns.Of(mode)(isBroker ? fault.PromiseOnBroker : fault.Promise);
    }

    /// <summary>The promise to all messages of a drain in which a fault makes a server crash; <see langword="null"/>: it makes none crash.</summary>
    /// <param name="fault">What goes wrong.</param>
    /// <param name="mode">How transactional the handler is.</param>
    /// <param name="isBroker">Whether a broker holds the queue. After its crash it can redeliver, or have lost, any number of messages.</param>
    /// <param name="isOneServer">Whether the queue is on the server with the rows. Elsewhere messages are still received while that is down.</param>
    /// <exception cref="UnknownModeException">No promise is defined.</exception>
    public static StormPromise? InADrain(Fault fault, TransactionMode mode, bool isBroker, bool isOneServer)
    {
        var classes = Of(fault, mode, isBroker);
        var (table, broker) = Reaches.Of(mode);
        return fault.Crashes switch
        {
            null => null,
            CrashedServer.OfRows => new StormPromise(classes, isOneServer ? table : broker),
            CrashedServer.OfQueue => new StormPromise(classes, isBroker ? Reach.Unbounded : table),
            _ => throw new NotSupportedException($"It is not defined how many messages a crash of the server '{fault.Crashes}' may affect."),
        };
    }

    /// <summary>What holds whatever goes wrong, and however often, as long as no handler itself throws.</summary>
    /// <param name="mode">How transactional the handler is.</param>
    /// <param name="isBroker">Whether a broker holds the queue.</param>
    /// <exception cref="UnknownModeException">No promise is defined.</exception>
    public static StormPromise Always(TransactionMode mode, bool isBroker)
    {
        ArgumentNullException.ThrowIfNull(mode);
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
