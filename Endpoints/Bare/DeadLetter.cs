namespace Kit.Endpoints.Bare;

/// <summary>A message that was given up, as it lies among the errors of its queue.</summary>
/// <param name="MessageId">Its identity.</param>
/// <param name="FailedAttempts">How often it was handled without success, as its endpoint counted; 0 when it could not be read, or when the
/// broker gave it up before; <see langword="null"/> where the framework does not say.</param>
/// <param name="Reason">Why it was given up.</param>
public sealed record DeadLetter(Guid MessageId, int? FailedAttempts, string Reason)
{
    /// <summary>The message's type, as its sender named it; empty where it named none.</summary>
    public string Type { get; init; } = "";

    /// <summary>When it was given up; <see langword="null"/> where that is not known.</summary>
    public DateTimeOffset? FailedAt { get; init; }
}
