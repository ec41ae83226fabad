namespace Kit.Guarantees;

/// <summary>How many messages one kill, or one cut of every connection, may touch.</summary>
public enum Reach
{
    /// <summary>None.</summary>
    None,

    /// <summary>Those that were being handled.</summary>
    Handled,

    /// <summary>
    /// Those, and after a cut the next of each handler: it can meet a pooled connection that was cut as well, and where nothing is tried again it
    /// fails.
    /// </summary>
    HandledAndNext,

    /// <summary>Those, and the one that an outbox was sending.</summary>
    HandledOrSent,

    /// <summary>Those that a broker had pushed to the endpoint and that were not acknowledged.</summary>
    Pushed,

    /// <summary>
    /// No number is promised: a broker that waits for no acknowledgement pushes all it has, and what nobody recovers can hold the others up.
    /// </summary>
    Unbounded,
}

/// <summary>What holds whatever goes wrong, while no handler throws of its own accord.</summary>
/// <param name="Classes">The classes that each message may be of.</param>
/// <param name="Reach">How many messages each fault may keep from being <see cref="DeliveryClass.Once"/>.</param>
public sealed record StormPromise(IReadOnlySet<DeliveryClass> Classes, Reach Reach)
{
    /// <summary>The most messages that may be of another class than once; <see langword="null"/>: no number is promised.</summary>
    /// <param name="kills">Of the handlers' process.</param>
    /// <param name="cuts">Of all its connections.</param>
    /// <param name="concurrency">Handlers that run at the same time.</param>
    /// <param name="prefetch">Messages that a broker pushes ahead; <see langword="null"/>: the queue is in a database.</param>
    /// <exception cref="ArgumentNullException">A broker pushes, and nobody says how many.</exception>
    public int? Most(int kills, int cuts, int concurrency, int? prefetch) => Reach switch
    {
        Reach.None => 0,
        Reach.Handled => (kills + cuts) * concurrency,
        Reach.HandledAndNext => (kills + (2 * cuts)) * concurrency,
        Reach.HandledOrSent => (kills + cuts) * (concurrency + 1),
        Reach.Pushed => (kills + cuts) * Math.Max(concurrency, prefetch ?? throw new ArgumentNullException(nameof(prefetch))),
        Reach.Unbounded => null,
        _ => throw new NotSupportedException($"Nobody has said how many messages '{Reach}' is."),
    };
}
