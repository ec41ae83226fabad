using Kit.Modes;

namespace Kit.Endpoints.Cells;

/// <summary>Compares a cell's label with its observed behaviour.</summary>
public static class CellLabel
{
    /// <summary>Each way in which a cell differs from its label, for the user to read.</summary>
    public static IEnumerable<string> DisagreementsWith(TransactionMode mode, int concurrency, ProbeResult seen)
    {
        ArgumentNullException.ThrowIfNull(mode);
        ArgumentNullException.ThrowIfNull(seen);
        return seen.Order is { } order
            ? [.. OfOrder(mode.CommitOrder, order), .. OfIsolation(mode, seen), .. OfConcurrency(concurrency, seen)]
            : [$"no message was handled within {CellProbe.Deadline.TotalSeconds} s"];
    }

    private static IEnumerable<string> OfOrder(CommitOrder expected, CommitOrder order)
    {
        if (order.HasAmbientTransaction != expected.HasAmbientTransaction)
            yield return order.HasAmbientTransaction ? "handlers run in an ambient transaction, but should not" : "handlers run without an ambient transaction";
        if (order.IsRowVisibleInHandler != expected.IsRowVisibleInHandler)
            yield return order.IsRowVisibleInHandler ? "the row is committed before the handler has ended" : "the insert does not commit the row";
        if (order.IsMessageLeftInHandler != expected.IsMessageLeftInHandler)
        {
            yield return order.IsMessageLeftInHandler
                ? "the message is still in the queue while it is handled"
                : "the message has left the queue before it is handled";
        }

        if (expected.IsMessageLeftAfterCommit is not null && order.IsMessageLeftAfterCommit != expected.IsMessageLeftAfterCommit)
        {
            yield return order.IsMessageLeftAfterCommit is true
                ? "the receive commits after the handler's transaction"
                : "the receive does not commit after the handler's transaction";
        }
    }

    private static IEnumerable<string> OfIsolation(TransactionMode mode, ProbeResult seen)
    {
        if (seen.ScopeIsolation is not null && seen.ScopeIsolation != mode.Isolation.ToString())
            yield return $"the ambient transaction is {seen.ScopeIsolation}, not {mode.Isolation}";
        if (seen.Isolation != mode.IsolationInWords)
            yield return $"the handler's connection is '{seen.Isolation}', not '{mode.IsolationInWords}'";
    }

    private static IEnumerable<string> OfConcurrency(int concurrency, ProbeResult seen)
    {
        if (seen.MostTogether != concurrency)
            yield return $"{seen.MostTogether} handlers ran at the same time, not {concurrency}";
    }
}
