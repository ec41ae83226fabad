using Kit.Modes;

namespace Kit.Endpoints.Bare.PostgreSql;

/// <summary>What PostgreSQL can promise on nothing but its driver.</summary>
public static class PostgreSqlSupport
{
    public static Support Of(TransactionMode mode) => mode == TransactionMode.FullDtcPromoted
        ? Support.No("PostgreSQL takes no part in MSDTC's transactions; full-dtc is the kit's own two-phase commit there")
        : Support.Yes;
}
