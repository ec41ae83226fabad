namespace Kit.Endpoints.Bare;

/// <summary>A message that was given up, as it is in its error queue.</summary>
/// <param name="MessageId">Its id.</param>
/// <param name="FailedAttempts">
/// The failed attempts that its endpoint counted; 0 if it could not be read, or if the broker gave it up before an attempt;
/// <see langword="null"/> if the framework does not say.
/// </param>
/// <param name="Reason">Why it was given up.</param>
public sealed record DeadLetter(Guid MessageId, int? FailedAttempts, string Reason)
{
    /// <summary>The message's type, as its sender named it; empty if it named none.</summary>
    public string Type { get; init; } = "";

    /// <summary>When it was given up; <see langword="null"/> if unknown.</summary>
    public DateTimeOffset? FailedAt { get; init; }
}
