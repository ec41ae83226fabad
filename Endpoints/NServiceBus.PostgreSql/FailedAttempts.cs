using NServiceBus.Transport;

namespace Kit.Endpoints.NServiceBus.PostgreSql;

/// <summary>
/// Counts the failed attempts of a message, in memory as the transport does. The transport also counts a failure before the handler, and counts a failure
/// twice if it cannot roll the receive back, as after a cut of its connection (ProcessWithNativeTransaction of NServiceBus.SqlServer 9.1.0).
/// </summary>
/// <param name="earlier">The failed attempts before this receive.</param>
internal sealed class FailedAttempts(int earlier)
{
    /// <summary>Whether a failure of this receive counts.</summary>
    public bool IsAttempt { get; set; }

    private int Count => earlier + (IsAttempt ? 1 : 0);

    /// <summary>Begins a receive, which is no attempt yet. The transport keeps the context for the next receive if this one fails.</summary>
    public static FailedAttempts Of(MessageContext message)
    {
        var attempts = new FailedAttempts(message.TransportTransaction.TryGet(out FailedAttempts? before) ? before.Count : 0);
        message.Extensions.Set(attempts);
        return attempts;
    }

    /// <summary>Asks the endpoint what becomes of a message that failed. If no attempt did, it is handled.</summary>
    /// <returns>As of <see cref="OnError"/>. The transport then handles the message in the same transaction, which passes the count on.</returns>
    public static async Task<ErrorHandleResult> AnswerAsync(ErrorContext error, OnError onError, CancellationToken cancellationToken)
    {
        if (!error.Extensions.TryGet(out FailedAttempts? attempts))
            return await onError(error, cancellationToken);

        error.TransportTransaction.Set(attempts);
        return attempts.Count == 0 ? ErrorHandleResult.RetryRequired : await onError(
            new ErrorContext(
                error.Exception, error.Headers, error.NativeMessageId, error.Body, error.ReceiveProperties, error.TransportTransaction, attempts.Count,
                error.ReceiveAddress, error.Extensions),
            cancellationToken);
    }
}
