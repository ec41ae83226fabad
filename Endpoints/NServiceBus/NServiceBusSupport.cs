using Kit.Modes;
using NServiceBus;
using NServiceBus.Transport;

namespace Kit.Endpoints.NServiceBus;

/// <summary>
/// The modes that NServiceBus supports: its own name for each mode, and whether a transport offers it, as the transport itself says. A transport
/// that was not tried supports none.
/// </summary>
public static class NServiceBusSupport
{
    /// <summary>NServiceBus's equivalents of each mode, the best first, and what it means if a transport offers none of them.</summary>
    private static readonly ByMode<(TransportTransactionMode[] Wanted, string Without)> Meanings = new("NServiceBus")
    {
        {
            [TransactionMode.FullDtc, TransactionMode.FullDtcPromoted],
            ([TransportTransactionMode.TransactionScope], "its receive takes no part in a distributed transaction")
        },
        {
            [TransactionMode.DtcOff, TransactionMode.ScopeOff],
            ([TransportTransactionMode.SendsAtomicWithReceive, TransportTransactionMode.ReceiveOnly], "its receive has no transaction")
        },
        { TransactionMode.TransactionsOff, ([TransportTransactionMode.None], "a message stays in its queue until it has been handled") },
        { TransactionMode.Shared, ([TransportTransactionMode.SendsAtomicWithReceive], "its receive has no transaction") },
        { TransactionMode.Outbox, ([TransportTransactionMode.ReceiveOnly], "NServiceBus's outbox needs it") },
    };

    /// <summary>The modes that a transport does not have although it offers NServiceBus's equivalent. The first entry that applies counts.</summary>
    private static readonly (TransactionMode Mode, Predicate<TransportDefinition> AppliesTo, string Reason)[] Refusals =
    [
        (TransactionMode.Shared, transport => transport is SqlServerTransport,
            "SqlClient requires the transaction on each command, and handlers that do not know the mode cannot set it"),
        (TransactionMode.Shared, transport => transport is not PostgreSqlTransport,
            "its queues are not tables that can share a transaction with the handler's rows"),
        (TransactionMode.FullDtc, transport => transport is PostgreSqlTransport,
            "its receive takes no part in a distributed transaction. TwoPhasePostgreSqlTransport (package TransactionModes.NServiceBus.PostgreSql) has " +
            "this mode"),
        (TransactionMode.Outbox, transport => transport is not (PostgreSqlTransport or RabbitMQTransport),
            "the kit has not tried NServiceBus's outbox there"),
    ];

    /// <param name="mode">The mode.</param>
    /// <param name="transport">The transport, with any connection string.</param>
    /// <exception cref="UnknownModeException">The mode has no entry here.</exception>
    public static Support Of(TransactionMode mode, TransportDefinition transport)
    {
        if (mode is { InNServiceBus: null })
            return Support.No("NServiceBus has no such mode; the bare endpoint has it for comparison");

        var (wanted, without) = Meanings.Of(mode);
        if (TransportTransactions.Of(transport) is { IsSupported: false } unknown)
            return unknown;

        if (transport is ITransactionModeTransport own && own.Supports(mode) is { IsSupported: false } refused)
            return refused;
        foreach (var (refusedMode, appliesTo, reason) in Refusals)
        {
            if (refusedMode == mode && appliesTo(transport))
                return Support.No(reason);
        }

        var offered = transport.GetSupportedTransactionModes();
        return wanted.Any(offered.Contains)
            ? Support.Yes
            : Support.No($"{transport.GetType().Name} offers {string.Join(", ", offered.Order())} and not {wanted[0]}: {without}");
    }

    /// <summary>NServiceBus's equivalent of the mode on that transport.</summary>
    /// <exception cref="NotSupportedException">The transport does not support the mode. The message says why.</exception>
    public static TransportTransactionMode ModeOf(TransactionMode mode, TransportDefinition transport) => Of(mode, transport).Because is { } reason
        ? throw new NotSupportedException($"NServiceBus cannot run in {mode}: {reason}.")
        : Meanings.Of(mode).Wanted.First(transport.GetSupportedTransactionModes().Contains);
}
