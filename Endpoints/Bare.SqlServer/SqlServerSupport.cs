using Kit.Modes;

namespace Kit.Endpoints.Bare.SqlServer;

/// <summary>The modes that SQL Server supports, on every framework.</summary>
public static class SqlServerSupport
{
    /// <summary>
    /// Whether a transaction over two connections, which is promoted to MSDTC, can run on this machine. See
    /// https://learn.microsoft.com/dotnet/api/system.transactions.transactionmanager.implicitdistributedtransactions.
    /// </summary>
    public static Support Promotion { get; } = PromotionOn(OperatingSystem.IsWindows());

    public static Support Of(TransactionMode mode) => Of(mode, Promotion);

    /// <summary>The same for known connection strings.</summary>
    /// <param name="mode">The mode.</param>
    /// <param name="isOneConnection">Whether queue and widgets have one connection string, so that one session serves both.</param>
    public static Support Of(TransactionMode mode, bool isOneConnection)
    {
        if (mode == TransactionMode.FullDtc)
            return isOneConnection ? Support.Yes : Promotion;
        if (mode == TransactionMode.FullDtcPromoted && isOneConnection)
            return Support.No("queue and widgets have one connection string, so nothing would be promoted");

        return Of(mode);
    }

    internal static Support PromotionOn(bool isWindows) => isWindows
        ? Support.Yes
        : Support.Missing("a transaction over two connections is promoted to MSDTC, which .NET supports only on Windows");

    internal static Support Of(TransactionMode mode, Support promotion)
    {
        var supports = new ByMode<Support>("the bare endpoint on SQL Server")
        {
            { [TransactionMode.FullDtc, TransactionMode.DtcOff, TransactionMode.ScopeOff, TransactionMode.TransactionsOff], Support.Yes },
            { TransactionMode.FullDtcPromoted, promotion },
            {
                [TransactionMode.Shared, TransactionMode.Outbox],
                Support.No(
                    "shared is built for queues in PostgreSQL, outbox for PostgreSQL and RabbitMQ; on SQL Server, full-dtc on one connection is one " +
                    "local transaction")
            },
        };
        return mode is { OnlyOnPostgreSqlBecause: { } because } ? Support.No(because) : supports.Of(mode);
    }
}
