namespace Kit.Endpoints.Bare;

/// <summary>When the outbox is searched for waiting sends.</summary>
/// <param name="Interval">The time between two searches; the first is at the start of the endpoint.</param>
/// <param name="Grace">
/// How long a found record is left to the worker that handled its message, which normally dispatches it within milliseconds.
/// </param>
internal sealed record OutboxSchedule(TimeSpan Interval, TimeSpan Grace)
{
    public static OutboxSchedule Default { get; } = new(Interval: TimeSpan.FromSeconds(5), Grace: TimeSpan.FromSeconds(1));
}
