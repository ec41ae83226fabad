using Kit.Modes;
using NServiceBus;
using NServiceBus.Transport;

namespace Kit.Endpoints.NServiceBus;

/// <summary>
/// What NServiceBus can promise: what a mode is called there, and which transports offer it, as they say themselves. A transport that was not tried
/// has none.
/// </summary>
public static class NServiceBusSupport
{
    /// <summary>NServiceBus's modes that are what the kit's mode means, the best first, and what it says of a transport to have none of them.</summary>
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
        { TransactionMode.TransactionsOff, ([TransportTransactionMode.None], "a message stays in its queue until it was handled") },
        { TransactionMode.Shared, ([TransportTransactionMode.SendsAtomicWithReceive], "its receive has no transaction") },
        {
            TransactionMode.Outbox,
            ([], "handlers would need NServiceBus's own session for their connection, which is another package (NServiceBus.Persistence.Sql)")
        },
        {
            [TransactionMode.FullDtcWaiting, TransactionMode.NpgsqlScope],
            ([], "NServiceBus has no such two-phase commit; it is compared on the bare endpoint")
        },
    };

    /// <param name="mode">The mode.</param>
    /// <param name="transport">The transport, with whatever connection string.</param>
    /// <exception cref="UnknownModeException">Nobody has said what it means there.</exception>
    public static Support Of(TransactionMode mode, TransportDefinition transport)
    {
        var (wanted, without) = Meanings.Of(mode);
        if (wanted.Length == 0)
            return Support.No(without);
        if (TransportTransactions.Of(transport) is { IsSupported: false } unknown)
            return unknown;

        if (mode == TransactionMode.Shared && transport is SqlServerTransport)
            return Support.No("SqlClient wants the transaction on each command, and handlers that do not know the mode know none");
        if (mode == TransactionMode.Shared && transport is not PostgreSqlTransport)
            return Support.No("its queues are not tables that share a transaction with the handler's rows");

        var offered = transport.GetSupportedTransactionModes();
        return wanted.Any(offered.Contains)
            ? Support.Yes
            : Support.No($"{transport.GetType().Name} offers {string.Join(", ", offered.Order())} and not {wanted[0]}: {without}");
    }

    /// <summary>What NServiceBus calls the mode on that transport.</summary>
    /// <exception cref="NotSupportedException">The mode cannot be had, and why.</exception>
    public static TransportTransactionMode ModeOf(TransactionMode mode, TransportDefinition transport) => Of(mode, transport).Because is { } reason
        ? throw new NotSupportedException($"NServiceBus cannot run in {mode}: {reason}.")
        : Meanings.Of(mode).Wanted.First(transport.GetSupportedTransactionModes().Contains);
}
