using Kit.Modes;

namespace Kit.Endpoints.Bare;

/// <summary>How a failed attempt counts and what follows it, whatever holds the queue.</summary>
/// <param name="mode">How many attempts there are.</param>
/// <param name="firstDelay">Before the second attempt at a message whose session was lost; doubled each time.</param>
internal sealed class RetryRule(TransactionMode mode, TimeSpan firstDelay)
{
    /// <summary>How often a message has failed with this failure. One that cannot be read was not handled.</summary>
    public static int CountAfter(ReceivedMessage message, Exception failure) =>
        Failure.ReasonOf(failure) is UnreadableMessageException ? message.FailedAttempts : message.FailedAttempts + 1;

    /// <summary>How long a message waits for its next attempt; <see langword="null"/>: there is none, and it is given up.</summary>
    /// <exception cref="ArgumentOutOfRangeException">A server's refusal is no failed attempt.</exception>
    public TimeSpan? DelayAfter(ReceivedMessage message, Exception failure) => FailureKinds.Of(failure) switch
    {
        FailureKind.Hopeless => null,
        FailureKind.SessionLost or FailureKind.HandlerFailed when CountAfter(message, failure) >= mode.Attempts => null,
        FailureKind.SessionLost => BackOff.After(message.FailedAttempts, firstDelay),
        FailureKind.HandlerFailed => TimeSpan.Zero,
        _ => throw new ArgumentOutOfRangeException(nameof(failure), failure, "Expected a failure of the message's, not a server's refusal."),
    };
}
