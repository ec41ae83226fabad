using Kit.Guarantees;
using Kit.Modes;
using static Kit.Guarantees.DeliveryClass;

namespace Kit.Endpoints.Cells;

/// <summary>MassTransit.</summary>
public static class FactsOfMassTransit
{
    private static readonly TransactionMode[] Counts = [TransactionMode.DtcOff, TransactionMode.ScopeOff];

    public static FrameworkFacts Facts { get; } = new("masstransit", "MassTransit")
    {
        Limits =
        [
            .. SharedLimits.OfTheDriversScope,
            .. SharedLimits.OfQuickAttempts(Counts, afterRows: Counts, onABroker: Counts),
            SharedLimits.OfTheSharedChannel,
            new(TransportName.RabbitMq, [TransactionMode.TransactionsOff], Fault.SendRefused, Affected.Bystander,
                new HashSet<DeliveryClass> { Lost, Zombie },
                "the broker closes the channel on which a message is too large; sends on it fail, and what was delivered without acknowledgement and had " +
                "not been handled is gone (MassTransit 8.5.12)"),
        ],
    };
}
