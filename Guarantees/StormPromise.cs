namespace Kit.Guarantees;

/// <summary>How many messages one kill, or one cut of every connection, may affect.</summary>
public enum Reach
{
    /// <summary>None.</summary>
    None,

    /// <summary>The messages that were being handled.</summary>
    Handled,

    /// <summary>
    /// The messages that a broker had pushed, and whose acknowledgement it did not have. A client keeps acknowledgements of handled messages in its buffers,
    /// and its process can end, or its connection be lost, before it has sent them.
    /// </summary>
    Pushed,

    /// <summary>
    /// The messages that were being handled, and after a cut the next message of each handler: it can get a pooled connection that was also
    /// cut, and fails if the mode does not retry.
    /// </summary>
    HandledAndNext,

    /// <summary>The messages that were being handled, and the one that an outbox was sending.</summary>
    HandledOrSent,

    /// <summary>
    /// No number is promised: a broker that waits for no acknowledgement pushes all its messages, and branches that nobody recovers can block
    /// other messages.
    /// </summary>
    Unbounded,
}

/// <summary>What holds whatever goes wrong, as long as no handler itself throws.</summary>
/// <param name="Classes">The classes that each message may end in.</param>
/// <param name="Reach">How many messages each fault may keep from being <see cref="DeliveryClass.Once"/>.</param>
public sealed record StormPromise(IReadOnlySet<DeliveryClass> Classes, Reach Reach)
{
    /// <summary>The most messages that may be in another class than once; <see langword="null"/> if no number is promised.</summary>
    /// <param name="kills">How often the handlers' process was killed.</param>
    /// <param name="cuts">How often all its connections were cut.</param>
    /// <param name="unsettled">How many messages can be received and not settled at the same time.</param>
    /// <param name="prefetch">How many messages a broker pushes ahead; 0 for a queue in a database.</param>
    public int? Most(int kills, int cuts, int unsettled, int prefetch) => Reach switch
    {
        Reach.None => 0,
        Reach.Handled => (kills + cuts) * unsettled,
        Reach.Pushed => (kills + cuts) * Math.Max(unsettled, prefetch),
        Reach.HandledAndNext => (kills + (2 * cuts)) * unsettled,
        Reach.HandledOrSent => (kills + cuts) * (unsettled + 1),
        Reach.Unbounded => null,
        _ => throw new NotSupportedException($"There is no number of messages for reach '{Reach}'."),
    };
}
