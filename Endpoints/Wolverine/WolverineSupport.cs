using Kit.Modes;

namespace Kit.Endpoints.Wolverine;

/// <summary>The modes that Wolverine supports.</summary>
public static class WolverineSupport
{
    private const string NoScope = "it opens no scope around a handler";

    private static readonly ByMode<Support> OnPostgreSql = new("Wolverine on PostgreSQL")
    {
        { [TransactionMode.ScopeOff, TransactionMode.Outbox], Support.Yes },
        {
            [TransactionMode.FullDtc, TransactionMode.FullDtcPromoted],
            Support.No("its receive takes no part in a distributed transaction")
        },
        { TransactionMode.DtcOff, Support.No(NoScope) },
        { TransactionMode.TransactionsOff, Support.No("no cell is written for its buffered queues") },
        { TransactionMode.Shared, Support.No("its receive commits the message to the inbox before the handler runs") },
        {
            [TransactionMode.FullDtcWaiting, TransactionMode.NpgsqlScope],
            Support.No("Wolverine has no such mode; the bare endpoint has it for comparison")
        },
    };

    private static readonly ByMode<Support> OnBroker = new("Wolverine on RabbitMQ")
    {
        { [TransactionMode.ScopeOff, TransactionMode.Outbox], Support.Yes },
        { TransactionMode.DtcOff, Support.No(NoScope) },
        {
            TransactionMode.TransactionsOff,
            Support.No("it handles a message from memory before the broker has its acknowledgement, and again if a cut connection loses that")
        },
    };

    /// <summary>Support with queues in PostgreSQL.</summary>
    /// <exception cref="UnknownModeException">The mode has no entry here.</exception>
    public static Support Of(TransactionMode mode) => OnPostgreSql.Of(mode);

    /// <summary>Support with queues in RabbitMQ.</summary>
    /// <inheritdoc cref="Of" path="/exception"/>
    public static Support OnRabbitMq(TransactionMode mode)
    {
        if (mode is { IsOneUnit: true })
        {
            return Support.No(
                "AMQP 0-9-1 transactions belong to one channel and have no prepare, so an acknowledgement cannot commit together with a database");
        }

        return mode is { OnlyOnPostgreSqlBecause: { } because } ? Support.No(because) : OnBroker.Of(mode);
    }
}
