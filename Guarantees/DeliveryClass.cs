namespace Kit.Guarantees;

/// <summary>
/// What became of a message under faults. Every message is in exactly one class: the first in this list whose rule holds.
/// The rules are in the runner's account.
/// </summary>
public enum DeliveryClass
{
    /// <summary>
    /// Work for a message that was not sent or not attempted, or work that its handler does not do, such as a message in another queue. No mode can cause
    /// that; it is a mistake in the experiment.
    /// </summary>
    Unexpected,

    /// <summary>Some of a unit's work is there and the rest is not: a branch is still prepared, or an attempt is half done.</summary>
    Torn,

    /// <summary>A branch is prepared, and nothing shows how it was decided.</summary>
    InDoubt,

    /// <summary>More rows than one attempt inserts.</summary>
    Duplicated,

    /// <summary>The handler's message was sent, but its row is missing.</summary>
    Ghost,

    /// <summary>
    /// The row is there, but the handler's message was not sent, its event is missing in a subscriber's queue, or the handled message was given up. Of a
    /// handler that inserts no row, its message is there, and the handled message was given up.
    /// </summary>
    Zombie,

    /// <summary>One set of rows, and more than one outgoing message: from the handler, or to the error queue.</summary>
    DuplicatedOutgoing,

    /// <summary>Still in its queue, although nothing moves any more.</summary>
    Stuck,

    /// <summary>Neither the message nor any effect is anywhere.</summary>
    Lost,

    /// <summary>In the error queue once, and without any effect.</summary>
    CleanError,

    /// <summary>As <see cref="Once"/>, but its producer never got the confirmation that it was sent.</summary>
    Recovered,

    /// <summary>Every effect once, and the message is nowhere else.</summary>
    Once,
}
