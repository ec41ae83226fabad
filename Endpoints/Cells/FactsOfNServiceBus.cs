using Kit.Guarantees;
using Kit.Modes;
using static Kit.Guarantees.DeliveryClass;

namespace Kit.Endpoints.Cells;

/// <summary>NServiceBus. A build without its packages has the facts, too, and lists its cells as missing.</summary>
public static class FactsOfNServiceBus
{
    public static FrameworkFacts Facts { get; } = new("nservicebus", "NServiceBus")
    {
        Limits =
        [
            .. SharedLimits.OfTheDriversScope,
            .. SharedLimits.OfQuickAttempts(
                // full-dtc: the kit's transport counts no attempt while a server refuses.
                [TransactionMode.DtcOff, TransactionMode.ScopeOff, TransactionMode.Shared, TransactionMode.Outbox],
                // outbox: it dispatches within the message's attempts, after the rows have committed.
                afterRows: [TransactionMode.DtcOff, TransactionMode.ScopeOff, TransactionMode.Outbox],
                onABroker: [TransactionMode.DtcOff, TransactionMode.ScopeOff, TransactionMode.Outbox]),
            SharedLimits.OfTheSharedChannel,
            SharedLimits.OfStatementsOnSqlServer,
            new(TransportName.RabbitMq, [TransactionMode.DtcOff, TransactionMode.ScopeOff], Fault.FailedDispatch, Affected.Bystander,
                new HashSet<DeliveryClass> { Duplicated, DuplicatedOutgoing },
                "the endpoint has one channel to publish on; the broker closes it when a handler sends to a queue that does not exist, and another " +
                "handler's send on that channel fails after its rows have committed (NServiceBus.RabbitMQ 11.2.1)"),
            .. from fault in new[] { Fault.LateQueue, Fault.FailedDispatch }
               select new KnownLimit(
                   null, [TransactionMode.Outbox], fault, Affected.Chosen, new HashSet<DeliveryClass> { Zombie },
                   "it dispatches sends within the message's attempts, and then gives the message up, with its rows committed (NServiceBus 10.2.8, documented)")
               {
                   GivenUp = true,
               },
        ],
    };
}
