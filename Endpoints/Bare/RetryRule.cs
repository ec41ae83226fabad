using Kit.Modes;

namespace Kit.Endpoints.Bare;

/// <summary>How a failed attempt counts and what follows it, on every transport.</summary>
/// <param name="mode">Sets the number of attempts.</param>
/// <param name="firstDelay">The delay before the second attempt if the session was lost; doubled each time.</param>
/// <param name="kinds">Judges failures.</param>
/// <param name="delays">The delays after failures of the handler: before the second attempt, the third and so on. The last counts for all later ones.</param>
internal sealed class RetryRule(TransactionMode mode, TimeSpan firstDelay, FailureKinds kinds, IReadOnlyList<TimeSpan> delays)
{
    /// <summary>A message's failed attempts, including this one. An unreadable message was not attempted.</summary>
    public static int CountAfter(ReceivedMessage message, Exception failure) =>
        Failure.ReasonOf(failure) is UnreadableMessageException ? message.FailedAttempts : message.FailedAttempts + 1;

    /// <summary>How long a message waits for its next attempt; <see langword="null"/> if it is given up.</summary>
    /// <exception cref="ArgumentOutOfRangeException">The failure is a server's refusal, which is not an attempt.</exception>
    public TimeSpan? DelayAfter(ReceivedMessage message, Exception failure) => kinds.Of(failure) switch
    {
        FailureKind.Hopeless => null,
        FailureKind.SessionLost or FailureKind.HandlerFailed when CountAfter(message, failure) >= mode.Attempts => null,
        FailureKind.SessionLost => BackOff.After(message.FailedAttempts, firstDelay),
        FailureKind.HandlerFailed when delays.Count == 0 => TimeSpan.Zero,
        FailureKind.HandlerFailed => delays[Math.Min(message.FailedAttempts, delays.Count - 1)],
        _ => throw new ArgumentOutOfRangeException(nameof(failure), failure, "Expected a failure of the message's, not a server's refusal."),
    };
}
