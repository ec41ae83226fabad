using Kit.Modes;

namespace Kit.Endpoints.Bare.PostgreSql;

/// <summary>What PostgreSQL can promise on nothing but its driver.</summary>
public static class PostgreSqlSupport
{
    private static readonly ByMode<Support> Supports = new("the bare endpoint on PostgreSQL")
    {
        {
            [
                TransactionMode.FullDtc, TransactionMode.FullDtcWaiting, TransactionMode.DtcOff, TransactionMode.ScopeOff,
                TransactionMode.TransactionsOff, TransactionMode.NpgsqlScope, TransactionMode.Shared, TransactionMode.Outbox,
            ],
            Support.Yes
        },
        {
            TransactionMode.FullDtcPromoted,
            Support.No("PostgreSQL takes no part in MSDTC's transactions; full-dtc is the kit's own two-phase commit there")
        },
    };

    /// <exception cref="UnknownModeException">Nobody has said whether it can.</exception>
    public static Support Of(TransactionMode mode) => Supports.Of(mode);
}
