using Kit.Guarantees;
using Kit.Modes;
using static Kit.Guarantees.DeliveryClass;

namespace Kit.Endpoints.Cells;

/// <summary>The kit's own endpoint: the driver alone.</summary>
public static class FactsOfBare
{
    public static FrameworkFacts Facts { get; } = new("bare", "bare")
    {
        // It records the message's id first.
        RowsBeginBeforeHandler = TransactionMode.Outbox,
        Limits =
        [
            SharedLimits.OfSettingsLeft(TransactionMode.NpgsqlScope),
            .. SharedLimits.OfGivenUp(
                [
                    TransactionMode.FullDtc, TransactionMode.FullDtcWaiting, TransactionMode.DtcOff, TransactionMode.ScopeOff, TransactionMode.Shared,
                    TransactionMode.Outbox,
                ],
                afterRows: [TransactionMode.DtcOff, TransactionMode.ScopeOff],
                fault: null,
                "a lost session counts as a failed attempt, and a message that loses three is given up (the kit's bare endpoint)"),
            SharedLimits.OfStatementsOnSqlServer,
            .. from fault in new[] { Fault.RestartBroker, Fault.RestartBrokerHalfway, Fault.RestartBrokerLate }
               select new KnownLimit(
                   TransportName.RabbitMq, [TransactionMode.TransactionsOff], fault, Affected.Chosen,
                   new HashSet<DeliveryClass> { Duplicated, DuplicatedOutgoing },
                   "a classic queue is slow to record on disk which messages it has removed, so a killed broker can redeliver messages that it had " +
                   "delivered under no-ack (RabbitMQ 3.10.8)"),
        ],
    };
}
