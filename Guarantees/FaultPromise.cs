using Kit.Modes;

namespace Kit.Guarantees;

/// <summary>
/// What a mode promises under a fault: the classes that a message which meets it may be of. Every other message is promised
/// <see cref="DeliveryClass.Once"/>. What follows from the modes' definitions is written in <see cref="PromiseTable"/>; what a framework, a driver
/// or a broker makes of it is observed, and where it is known and less, it is a <see cref="KnownLimit"/>.
/// </summary>
public static class FaultPromise
{
    /// <summary>The classes that the message may be of that meets the fault; with a server that crashes, every message.</summary>
    /// <param name="fault">What goes wrong.</param>
    /// <param name="mode">How transactional the handler is.</param>
    /// <param name="isBroker">
    /// Whether the queue is a broker's: acknowledgements and sends are then messages of their own, and a database that is away
    /// does not keep messages from being received, failed and given up.
    /// </param>
    /// <exception cref="NotSupportedException">Nobody has said what is promised.</exception>
    public static IReadOnlySet<DeliveryClass> Of(Fault fault, TransactionMode mode, bool isBroker)
    {
        ArgumentNullException.ThrowIfNull(fault);
        ArgumentNullException.ThrowIfNull(mode);
        return PromiseTable.Of(fault, mode, isBroker);
    }

    /// <summary>What holds whatever goes wrong, and how often, while no handler throws of its own accord.</summary>
    /// <param name="mode">How transactional the handler is.</param>
    /// <param name="isBroker">Whether the queue is a broker's.</param>
    /// <exception cref="UnknownModeException">Nobody has said what is promised.</exception>
    public static StormPromise Always(TransactionMode mode, bool isBroker)
    {
        ArgumentNullException.ThrowIfNull(mode);
        return PromiseTable.Always(mode, isBroker);
    }
}
