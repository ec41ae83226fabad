using Kit.Modes;

namespace Kit.Endpoints.Bare.PostgreSql;

/// <summary>Which of an endpoint's connections commit without waiting for the log.</summary>
/// <param name="OfReceives">The sessions that receive.</param>
/// <param name="OfHandlers">The connections that handlers are lent, and the outbox's own.</param>
internal readonly record struct AsynchronousCommits(bool OfReceives, bool OfHandlers)
{
    private static readonly ByMode<AsynchronousCommits> AtLast = new("the flush of the log")
    {
        { [TransactionMode.DtcOff, TransactionMode.ScopeOff, TransactionMode.Outbox], new(OfReceives: false, OfHandlers: true) },
        // The insert comes last. What is sent, and what is given up, is not the receive's to carry.
        { TransactionMode.TransactionsOff, new(OfReceives: true, OfHandlers: false) },
        // The receive's commit is the decision. COMMIT PREPARED comes last, and always waits.
        { [TransactionMode.FullDtc, TransactionMode.FullDtcWaiting], new(OfReceives: true, OfHandlers: false) },
    };

    /// <param name="mode">The endpoint's.</param>
    /// <param name="flush">One that <see cref="PostgreSqlSupport"/> allows in that mode.</param>
    /// <exception cref="UnknownModeException">The mode has no such setting.</exception>
    /// <exception cref="NotSupportedException">Nobody has said what the setting does.</exception>
    public static AsynchronousCommits Of(TransactionMode mode, LogFlush flush)
    {
        if (flush == LogFlush.Every)
            return default;
        if (flush == LogFlush.Last)
            return AtLast.Of(mode);
        return flush == LogFlush.None && mode == TransactionMode.Shared
            ? new AsynchronousCommits(OfReceives: true, OfHandlers: true)
            : throw new NotSupportedException($"Nobody has said which connections of {mode} commit asynchronously at '{flush}'.");
    }
}
