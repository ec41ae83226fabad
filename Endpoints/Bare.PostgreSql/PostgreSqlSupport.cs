using Kit.Modes;

namespace Kit.Endpoints.Bare.PostgreSql;

/// <summary>The modes that the bare endpoint supports on PostgreSQL.</summary>
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
            Support.No("PostgreSQL takes no part in MSDTC's transactions; on PostgreSQL, full-dtc is the kit's own two-phase commit")
        },
    };

    private static readonly ByMode<Support> AtLast = new("the flush of the log")
    {
        {
            [
                TransactionMode.FullDtc, TransactionMode.FullDtcWaiting, TransactionMode.DtcOff, TransactionMode.ScopeOff,
                TransactionMode.TransactionsOff, TransactionMode.Outbox,
            ],
            Support.Yes
        },
        { TransactionMode.Shared, Support.No("shared has one commit for each message, which is its last: use 'every' or 'none'") },
        { TransactionMode.NpgsqlScope, Support.No("the driver commits both branches, and nobody recovers what a crash leaves: use 'every'") },
        { TransactionMode.FullDtcPromoted, Supports.Of(TransactionMode.FullDtcPromoted) },
    };

    private static readonly ByMode<Support> Batches = new("batches on PostgreSQL")
    {
        {
            [
                TransactionMode.FullDtc, TransactionMode.FullDtcWaiting, TransactionMode.DtcOff, TransactionMode.ScopeOff,
                TransactionMode.TransactionsOff, TransactionMode.Shared,
            ],
            Support.Yes
        },
        { TransactionMode.Outbox, Support.No("its record of a message, its dispatch and its receive are built for one message at a time") },
        { TransactionMode.NpgsqlScope, Support.No("the driver ends a scope's transaction as a whole, so one message could not be rolled back alone") },
        { TransactionMode.FullDtcPromoted, Supports.Of(TransactionMode.FullDtcPromoted) },
    };

    private static readonly ByMode<Support> Ahead = new("receiving ahead on PostgreSQL")
    {
        { [TransactionMode.DtcOff, TransactionMode.ScopeOff, TransactionMode.Shared], Support.Yes },
        {
            [TransactionMode.FullDtc, TransactionMode.FullDtcWaiting],
            Support.No("the second phase begins when the commit of the receive is answered, and would wait for the next receive")
        },
        { TransactionMode.Outbox, Support.No("after the commit of the receive it forgets the sends, and the next message would wait for that") },
        {
            TransactionMode.TransactionsOff,
            Support.No("its receive commits before the handler runs, so a message that was received ahead would be one more that a crash loses")
        },
        { TransactionMode.NpgsqlScope, Support.No("the driver commits the receive, together with the scope") },
        { TransactionMode.FullDtcPromoted, Supports.Of(TransactionMode.FullDtcPromoted) },
    };

    /// <exception cref="UnknownModeException">The mode has no entry here.</exception>
    public static Support Of(TransactionMode mode) => Supports.Of(mode);

    /// <summary>Whether an endpoint can receive several messages at once.</summary>
    /// <param name="mode">The mode.</param>
    /// <param name="flush">Which commits wait for the log.</param>
    /// <exception cref="UnknownModeException">The mode has no entry here.</exception>
    public static Support InBatches(TransactionMode mode, LogFlush flush) =>
        Batches.Of(mode) is { IsSupported: false } no ? no
        : flush == LogFlush.Every ? Support.Yes
        : Support.No("no test has crashed a server under batches with fewer flushes: use flush 'every', or batches of 1");

    /// <summary>Whether a commit can also receive.</summary>
    /// <param name="mode">The mode.</param>
    /// <param name="flush">Which commits wait for the log.</param>
    /// <param name="batchSize">How many messages are received at once.</param>
    /// <exception cref="UnknownModeException">The mode has no entry here.</exception>
    public static Support ReceivingAhead(TransactionMode mode, LogFlush flush, int batchSize) =>
        Ahead.Of(mode) is { IsSupported: false } no ? no
        : batchSize > 1 ? Support.No("a batch has one receive for all its messages: use batches or this")
        : flush == LogFlush.Every ? Support.Yes
        : Support.No("no test has crashed a server under it with fewer flushes: use flush 'every', or a receive of its own");

    /// <summary>Whether the mode keeps its promise at a setting of <see cref="LogFlush"/>.</summary>
    /// <exception cref="UnknownModeException">The mode has no entry here.</exception>
    /// <exception cref="NotSupportedException">The setting is unknown.</exception>
    public static Support Of(TransactionMode mode, LogFlush flush)
    {
        if (Of(mode) is { IsSupported: false } no)
            return no;
        if (flush == LogFlush.Every)
            return Support.Yes;
        if (flush == LogFlush.Last)
            return AtLast.Of(mode);
        if (flush != LogFlush.None)
            throw new NotSupportedException($"The flush '{flush}' is unknown.");

        return mode == TransactionMode.Shared
            ? Support.Yes
            : Support.No(
                "without any flush a crash of the server takes back what was committed in the last moments, and with receive, rows and sends in several " +
                "commits it could take back one of them and not another: use 'last'");
    }
}
