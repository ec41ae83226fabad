namespace Kit.Guarantees;

/// <summary>
/// What became of a message under faults. Every message is in exactly one class: the first, from the top of this list, whose rule holds.
/// The runner's account has the rules.
/// </summary>
public enum DeliveryClass
{
    /// <summary>What no mode can do, and only a mistake in the experiment explains: work for a message that was not sent or not attempted.</summary>
    Unexpected,

    /// <summary>Some of one unit's work is there and the rest is not: a branch is still prepared, or an attempt is half done.</summary>
    Torn,

    /// <summary>A branch is prepared, and nothing tells how it was decided.</summary>
    InDoubt,

    /// <summary>More rows than one attempt inserts.</summary>
    Duplicated,

    /// <summary>The handler's message is out, its row is not there.</summary>
    Ghost,

    /// <summary>The row is there, and the message is not done: what the handler had to send is not out, or the message was given up.</summary>
    Zombie,

    /// <summary>One set of rows, and more than one outgoing message: of the handler, or to the error queue.</summary>
    DuplicatedOutgoing,

    /// <summary>Still in its queue, though nothing moves any more.</summary>
    Stuck,

    /// <summary>Nowhere.</summary>
    Lost,

    /// <summary>In the error queue once, and without any effect.</summary>
    CleanError,

    /// <summary>As <see cref="Once"/>, though its producer never heard that it was sent.</summary>
    Recovered,

    /// <summary>Every effect once, and the message is nowhere else.</summary>
    Once,
}
