using System.Runtime.ExceptionServices;
using NServiceBus.Transport;

namespace Kit.Endpoints.NServiceBus.PostgreSql;

/// <summary>
/// Counts the failed attempts of each message, in memory as the transport does. The transport also counts a failure before the handler, counts a failure
/// twice if it cannot roll the receive back, as after a cut of its connection, and forgets a message that goes back without an attempt
/// (ProcessWithNativeTransaction of NServiceBus.SqlServer 9.1.0).
/// </summary>
internal sealed class FailedAttempts
{
    // Those that were given up stay until others take their place. A message that fails is received again before those behind it.
    private const int Most = 1_000;

    private readonly OrderedDictionary<string, Failed> all = new(StringComparer.Ordinal);
    private readonly Lock sync = new();

    /// <summary>An attempt has failed.</summary>
    public void Add(string message, Exception reason)
    {
        lock (sync)
        {
            var earlier = all.Remove(message, out var last) ? last.Times : 0;
            if (all.Count == Most)
                all.RemoveAt(0);
            all.Add(message, new Failed(earlier + 1, reason));
        }
    }

    /// <summary>The message is handled.</summary>
    public void Clear(string message)
    {
        lock (sync)
            all.Remove(message);
    }

    /// <summary>
    /// Asks the endpoint what becomes of a message that failed. If no attempt did, it is handled; so it is in the receive after one in which the endpoint could
    /// not answer.
    /// </summary>
    /// <returns>As of <see cref="OnError"/>.</returns>
    public async Task<ErrorHandleResult> AnswerAsync(ErrorContext error, OnError onError, CancellationToken cancellationToken)
    {
        Failed? last;
        lock (sync)
            last = all.GetValueOrDefault(error.NativeMessageId);
        if (last is null || last.IsUnanswered)
        {
            last?.IsUnanswered = false;
            return ErrorHandleResult.RetryRequired;
        }

        try
        {
            return await onError(
                new ErrorContext(
                    last.Reason, error.Headers, error.NativeMessageId, error.Body, error.ReceiveProperties, error.TransportTransaction, last.Times,
                    error.ReceiveAddress, error.Extensions),
                cancellationToken);
        }
        catch (Exception failure)
        {
            last.IsUnanswered = true;
            error.TransportTransaction.Set(ExceptionDispatchInfo.Capture(failure));
            throw;
        }
    }

    /// <summary>
    /// Why the endpoint could not answer, in the same receive. The copy of the message for the error queue, or for a delayed retry, can be written already. The
    /// transport would handle the message in the same transaction, and commit the copy with it.
    /// </summary>
    public static ExceptionDispatchInfo? FailureOfAnswer(MessageContext message) =>
        message.TransportTransaction.TryGet(out ExceptionDispatchInfo? failure) ? failure : null;

    private sealed record Failed(int Times, Exception Reason)
    {
        public bool IsUnanswered { get; set; }
    }
}
