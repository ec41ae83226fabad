using Kit.Modes;

namespace Kit.Guarantees;

/// <summary>
/// What a mode promises under a fault: the classes that a message may end in when it meets the fault. Every other message is promised
/// <see cref="DeliveryClass.Once"/>. <see cref="Fault"/> states what follows from the modes' definitions. The experiments observe what a
/// framework, a driver or a broker really does; if one is known to keep less than the promise, that is a <see cref="KnownLimit"/>.
/// </summary>
public static class FaultPromise
{
    /// <summary>The classes that the message that meets the fault may end in. If a server crashes, that is every message.</summary>
    /// <param name="fault">What goes wrong.</param>
    /// <param name="mode">How transactional the handler is.</param>
    /// <param name="isBroker">
    /// Whether a broker holds the queue. Acknowledgements and sends are then separate messages, and while the database is down, messages are
    /// still received, fail and are given up.
    /// </param>
    /// <exception cref="UnknownModeException">No promise is defined.</exception>
    public static IReadOnlySet<DeliveryClass> Of(Fault fault, TransactionMode mode, bool isBroker)
    {
        ArgumentNullException.ThrowIfNull(fault);
        ArgumentNullException.ThrowIfNull(mode);
        return PromiseTable.Of(fault, mode, isBroker);
    }

    /// <summary>What holds whatever goes wrong, and however often, as long as no handler itself throws.</summary>
    /// <param name="mode">How transactional the handler is.</param>
    /// <param name="isBroker">Whether a broker holds the queue.</param>
    /// <exception cref="UnknownModeException">No promise is defined.</exception>
    public static StormPromise Always(TransactionMode mode, bool isBroker)
    {
        ArgumentNullException.ThrowIfNull(mode);
        return PromiseTable.Always(mode, isBroker);
    }
}
