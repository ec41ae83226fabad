using Kit.Modes;

namespace Kit.Endpoints.Rebus.PostgreSql;

/// <summary>The modes that Rebus supports on PostgreSQL.</summary>
public static class RebusSupport
{
    private static readonly ByMode<Support> Supports = new("Rebus on PostgreSQL")
    {
        { [TransactionMode.DtcOff, TransactionMode.ScopeOff, TransactionMode.Shared], Support.Yes },
        {
            [TransactionMode.FullDtc, TransactionMode.FullDtcPromoted],
            Support.No("its receive takes no part in a distributed transaction")
        },
        { TransactionMode.TransactionsOff, Support.No("its receive is always a transaction that commits after the handler") },
        {
            TransactionMode.Outbox,
            Support.No(
                "Rebus's outbox on PostgreSQL commits the rows of a handler that sends, then fails to store the sends, and handles the message again " +
                "(Rebus.PostgreSql 9.1.1 on Npgsql 10; on Npgsql 8 it can double messages)")
        },
        {
            [TransactionMode.FullDtcWaiting, TransactionMode.NpgsqlScope],
            Support.No("Rebus has no such mode; the bare endpoint has it for comparison")
        },
    };

    /// <exception cref="UnknownModeException">The mode has no entry here.</exception>
    public static Support Of(TransactionMode mode) => Supports.Of(mode);
}
