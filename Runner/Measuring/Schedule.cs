namespace Kit.Runner.Measuring;

/// <summary>
/// An open load: messages are sent at fixed moments, whatever the endpoint does. So a slow endpoint does not slow its senders down, and the time
/// that a message waits is not left out of its latency (coordinated omission).
/// </summary>
/// <param name="perSecond">Messages a second.</param>
/// <param name="pauses">
/// Draws the pauses between them, as if each came from somebody who knows nothing of the others (a Poisson process); <see langword="null"/>: equal pauses.
/// </param>
internal sealed class Schedule(double perSecond, TimeSpan length, Random? pauses = null)
{
    private readonly TimeSpan[]? drawn = pauses is null ? null : Draw(pauses, CountOf(perSecond, length), length);

    /// <summary>Duration of the sending.</summary>
    public TimeSpan Length => length;

    /// <summary>Number of messages, at least one.</summary>
    public int Messages { get; } = CountOf(perSecond, length);

    /// <summary>The moment of a message's send, from the start.</summary>
    /// <param name="index">From 0.</param>
    public TimeSpan MomentOf(int index) => drawn?[index] ?? TimeSpan.FromSeconds(index / perSecond);

    private static int CountOf(double perSecond, TimeSpan length) => Math.Max(1, (int)Math.Floor(perSecond * length.TotalSeconds));

    /// <summary>The moments of a Poisson process with a given number of them: they are independent and uniform.</summary>
    private static TimeSpan[] Draw(Random pauses, int messages, TimeSpan length) =>
        [.. Enumerable.Range(0, messages).Select(_ => pauses.NextDouble() * length).Order()];
}
