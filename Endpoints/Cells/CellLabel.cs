using Kit.Modes;

namespace Kit.Endpoints.Cells;

/// <summary>What a cell's label says of it, against what the cell was seen to do.</summary>
public static class CellLabel
{
    /// <param name="mode">The mode of the label.</param>
    /// <param name="concurrency">How many handlers were to run at the same time.</param>
    /// <param name="seen">What the cell did.</param>
    /// <returns>Each way in which the cell is not what its label says, in words for a user.</returns>
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
            yield return order.HasAmbientTransaction ? "handlers run in an ambient transaction, and should not" : "handlers run without an ambient transaction";
        if (order.IsRowVisibleInHandler != expected.IsRowVisibleInHandler)
            yield return order.IsRowVisibleInHandler ? "the row is committed before the handler has ended" : "the row is not committed by the insert itself";
        if (order.IsMessageLeftInHandler != expected.IsMessageLeftInHandler)
        {
            yield return order.IsMessageLeftInHandler
                ? "the message is still in the queue while it is handled"
                : "the message is out of the queue before it was handled";
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
            yield return $"{seen.MostTogether} handlers ran together, not {concurrency}";
    }
}
