using Kit.Endpoints.Bare.PostgreSql.Modes;
using Kit.Modes;

namespace Kit.Endpoints.Bare.PostgreSql;

/// <summary>The modes that the bare endpoint supports on PostgreSQL.</summary>
public static class PostgreSqlSupport
{
    private static readonly ByMode<PostgreSqlMode> Entries = new("the bare endpoint on PostgreSQL")
    {
        { TransactionMode.FullDtc, FullDtcMode.Entry(isWaiting: false) },
        { TransactionMode.FullDtcWaiting, FullDtcMode.Entry(isWaiting: true) },
        {
            TransactionMode.FullDtcPromoted,
            PostgreSqlMode.No("PostgreSQL takes no part in MSDTC's transactions; on PostgreSQL, full-dtc is the kit's own two-phase commit")
        },
        { TransactionMode.DtcOff, DtcOffMode.Entry },
        { TransactionMode.ScopeOff, ScopeOffMode.Entry },
        { TransactionMode.TransactionsOff, TransactionsOffMode.Entry },
        { TransactionMode.NpgsqlScope, NpgsqlScopeMode.Entry },
        { TransactionMode.Shared, SharedMode.Entry },
        { TransactionMode.Outbox, OutboxMode.Entry },
    };

    /// <exception cref="UnknownModeException">The mode has no entry here.</exception>
    public static Support Of(TransactionMode mode) => Entries.Of(mode).Supported;

    /// <summary>Whether an endpoint can receive several messages at once.</summary>
    /// <param name="mode">The mode.</param>
    /// <param name="flush">Which commits wait for the log.</param>
    /// <exception cref="UnknownModeException">The mode has no entry here.</exception>
    public static Support InBatches(TransactionMode mode, LogFlush flush) =>
        Entries.Of(mode).Batches is { IsSupported: false } no ? no
        : flush == LogFlush.Every ? Support.Yes
        : Support.No("no test has crashed a server under batches with fewer flushes: use flush 'every', or batches of 1");

    /// <summary>Whether a commit can also receive.</summary>
    /// <param name="mode">The mode.</param>
    /// <param name="flush">Which commits wait for the log.</param>
    /// <param name="batchSize">How many messages are received at once.</param>
    /// <exception cref="UnknownModeException">The mode has no entry here.</exception>
    public static Support ReceivingAhead(TransactionMode mode, LogFlush flush, int batchSize) =>
        Entries.Of(mode).Ahead is { IsSupported: false } no ? no
        : batchSize > 1 ? Support.No("a batch has one receive for all its messages: use batches or this")
        : flush == LogFlush.Every ? Support.Yes
        : Support.No("no test has crashed a server under it with fewer flushes: use flush 'every', or a receive of its own");

    /// <summary>Whether handlers can have further databases.</summary>
    /// <param name="mode">The mode.</param>
    /// <param name="flush">Which commits wait for the log.</param>
    /// <param name="batchSize">How many messages are received at once.</param>
    /// <exception cref="UnknownModeException">The mode has no entry here.</exception>
    internal static Support WithParticipants(TransactionMode mode, LogFlush flush, int batchSize) =>
        Entries.Of(mode).Participants is { IsSupported: false } no ? no
        : batchSize > 1 ? Support.No("a batch has one branch for all its handlers, in one database: use batches or participants")
        : flush == LogFlush.Every ? Support.Yes
        : Support.No("one server would keep what another loses: use flush 'every'");

    /// <summary>Whether the mode keeps its promise at a setting of <see cref="LogFlush"/>.</summary>
    /// <exception cref="UnknownModeException">The mode has no entry here.</exception>
    /// <exception cref="NotSupportedException">The setting is unknown.</exception>
    public static Support Of(TransactionMode mode, LogFlush flush)
    {
        var entry = Entries.Of(mode);
        if (flush == LogFlush.Every)
            return entry.Supported;
        if (flush == LogFlush.Last)
            return entry.FlushesLast;
        return flush == LogFlush.None ? entry.FlushesNone : throw new NotSupportedException($"The flush '{flush}' is unknown.");
    }

    /// <exception cref="UnknownModeException">The mode has no entry here.</exception>
    internal static PostgreSqlMode EntryOf(TransactionMode mode) => Entries.Of(mode);
}
