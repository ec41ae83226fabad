namespace Kit.Endpoints.Bare.RabbitMq;

/// <summary>Why a message is given up.</summary>
/// <param name="FailedAttempts">How many attempts have failed.</param>
/// <param name="Reason">The last failure.</param>
/// <param name="FailedAt">When it was given up, by the clock of this process or of the one that did it.</param>
internal sealed record Death(int FailedAttempts, string Reason, DateTimeOffset FailedAt);
