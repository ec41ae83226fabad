using Kit.Guarantees;
using Kit.Modes;
using static Kit.Guarantees.DeliveryClass;

namespace Kit.Endpoints.Cells;

/// <summary>Rebus.</summary>
public static class FactsOfRebus
{
    private static readonly TransactionMode[] Modes = [TransactionMode.DtcOff, TransactionMode.ScopeOff, TransactionMode.Shared];

    public static FrameworkFacts Facts { get; } = new("rebus", "Rebus")
    {
        Limits =
        [
            .. SharedLimits.OfTheDriversScope,
            new(null, [TransactionMode.Shared], Fault.Poison, Affected.Chosen, new HashSet<DeliveryClass> { Torn, Zombie },
                "it dead-letters within the last attempt, and then commits the receive with that attempt's rows (Rebus 8.9.5, Rebus.PostgreSql 9.1.1)")
            {
                DeadLettersNext = false,
            },
            new(null, Modes, Fault.ReceiveLost, Affected.Chosen, new HashSet<DeliveryClass> { Duplicated, Zombie, DuplicatedOutgoing },
                "its dead letter commits before the receive, which then cannot commit, so the message is handled and given up again (Rebus 8.9.5)")
            {
                DeadLettersNext = false,
            },
            new(null, [TransactionMode.DtcOff], Fault.ReceiveLost, Affected.Chosen, new HashSet<DeliveryClass> { CleanError },
                "it keeps more than is promised: a send is written at once on the receive's connection and fails with it, before the rows commit " +
                "(Rebus 8.9.5)"),
            new(null, Modes, Fault.DeadLetterRefused, Affected.Bystander, new HashSet<DeliveryClass> { Stuck },
                "a refused dead letter aborts the receive's transaction, which frees the message; another worker takes it, and each pauses for 10 s, until " +
                "all of them do (Rebus 8.9.5)")
            {
                DeadLettersNext = true,
            },
        ],
    };
}
