namespace Kit.Runner.Faults.Points;

/// <summary>Times for which the experiments with a subject wait on a machine that is not busy.</summary>
internal sealed record PointWaits
{
    /// <summary>Time in which an idle process repeats its requests. The outbox's dispatcher and recovery look every 5 seconds.</summary>
    public TimeSpan Idle { get; init; } = TimeSpan.FromSeconds(6);

    /// <summary>Time without a change after which no message meets its point any more. After twice that, work that is left counts as stuck.</summary>
    public TimeSpan Quiet { get; init; } = TimeSpan.FromSeconds(20);
}
