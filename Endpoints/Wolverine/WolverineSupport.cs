using Kit.Modes;

namespace Kit.Endpoints.Wolverine;

/// <summary>The modes that Wolverine supports.</summary>
public static class WolverineSupport
{
    private static readonly ByMode<Support> Supports = new("Wolverine on PostgreSQL")
    {
        { [TransactionMode.ScopeOff, TransactionMode.Outbox], Support.Yes },
        {
            [TransactionMode.FullDtc, TransactionMode.FullDtcPromoted],
            Support.No("its receive takes no part in a distributed transaction")
        },
        { TransactionMode.DtcOff, Support.No("it opens no scope around a handler") },
        { TransactionMode.TransactionsOff, Support.No("no cell is written for its buffered queues") },
        { TransactionMode.Shared, Support.No("its receive commits the message to the inbox before the handler runs") },
        {
            [TransactionMode.FullDtcWaiting, TransactionMode.NpgsqlScope],
            Support.No("Wolverine has no such mode; the bare endpoint has it for comparison")
        },
    };

    /// <exception cref="UnknownModeException">The mode has no entry here.</exception>
    public static Support Of(TransactionMode mode) => Supports.Of(mode);
}
