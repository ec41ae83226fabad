using Kit.Modes;

namespace Kit.Endpoints.Cells;

/// <summary>The driver alone, on queues in a PostgreSQL server of their own; the widgets are in another.</summary>
public sealed class BareOnPostgreSqlApart : BareOnPostgreSql
{
    public override string Transport => TransportName.PostgreSqlApart;

    public override Support Supports(TransactionMode mode) => mode is { NeedsOneDatabase: true }
        ? Support.No("one transaction covers one database, and queue and rows are on two servers")
        : base.Supports(mode);

    public override Support Supports(TransactionMode mode, LogFlush flush) => flush == LogFlush.Every
        ? Support.Yes
        : Support.No("with fewer flushes, a crash of one of two servers loses what the other keeps: use flush 'every'");
}
