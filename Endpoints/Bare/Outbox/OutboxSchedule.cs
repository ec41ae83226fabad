namespace Kit.Endpoints.Bare.Outbox;

/// <summary>When the outbox is searched for what waits.</summary>
/// <param name="Interval">Between two searches; the first is at the start of the endpoint.</param>
/// <param name="Grace">
/// How long a record that was found is left to the worker that handled its message, which dispatches it within milliseconds.
/// </param>
internal sealed record OutboxSchedule(TimeSpan Interval, TimeSpan Grace)
{
    public static OutboxSchedule Default { get; } = new(Interval: TimeSpan.FromSeconds(5), Grace: TimeSpan.FromSeconds(1));
}
