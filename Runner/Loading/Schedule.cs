namespace Kit.Runner.Loading;

/// <summary>
/// An open load: messages are sent at fixed moments, whatever the endpoint does. So a slow endpoint does not slow its senders down, and the time
/// that a message waits is not left out of its latency (coordinated omission).
/// </summary>
/// <param name="perSecond">Messages a second.</param>
/// <param name="length">How long messages are sent.</param>
internal sealed class Schedule(double perSecond, TimeSpan length)
{
    /// <summary>How long messages are sent.</summary>
    public TimeSpan Length => length;

    /// <summary>How many messages there are, at least one.</summary>
    public int Messages { get; } = Math.Max(1, (int)Math.Floor(perSecond * length.TotalSeconds));

    /// <summary>When a message is to be sent, from the start.</summary>
    /// <param name="index">From 0.</param>
    public TimeSpan MomentOf(int index) => TimeSpan.FromSeconds(index / perSecond);
}
