namespace Kit.Endpoints.Bare.Health;

/// <summary>What waits in an outbox: every send for some milliseconds, and those that could not be dispatched for longer.</summary>
/// <param name="Records">How many sends wait.</param>
/// <param name="OldestAge">The time since the oldest one's transaction began; <see langword="null"/> if none waits.</param>
internal sealed record OutboxBacklog(long Records, TimeSpan? OldestAge);
