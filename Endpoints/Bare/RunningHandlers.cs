using Microsoft.Extensions.Logging;

namespace Kit.Endpoints.Bare;

/// <summary>
/// The handlers of an endpoint that were called and have not returned. When the host stops, the endpoint waits for them. When the host no longer waits,
/// they are cancelled. After a moment, those that go on are named and left, so that the host can stop.
/// </summary>
/// <param name="endpoint">The endpoint.</param>
internal sealed partial class RunningHandlers(BareEndpointBuilder endpoint)
{
    private readonly Lock gate = new();
    private readonly HashSet<ReceivedMessage> running = new(ReferenceEqualityComparer.Instance);
    private bool areLeft;

    /// <summary>A handler is called.</summary>
    public void Begin(ReceivedMessage message)
    {
        lock (gate)
            running.Add(message);
    }

    /// <summary>It has returned or failed.</summary>
    /// <returns>Whether the endpoint still waited for it. If not, nothing of it may commit from now on: its message is received again.</returns>
    public bool End(ReceivedMessage message)
    {
        lock (gate)
            return running.Remove(message);
    }

    /// <summary>Waits for the workers, as long as the host waits. Then cancels the handlers, and leaves those that do not end soon.</summary>
    /// <param name="workers">Ends when no worker runs any more.</param>
    /// <param name="abandoning">Cancels the handlers.</param>
    /// <param name="log">Names the messages that are left.</param>
    /// <param name="cancellationToken">Cancelled when the host no longer waits.</param>
    /// <returns>Whether all have ended. If not, this was said, and the workers must not be waited for.</returns>
    public async Task<bool> StopAsync(Task workers, CancellationTokenSource abandoning, ILogger log, CancellationToken cancellationToken)
    {
        if (areLeft)
            return false;

        await Task.WhenAny(workers, Task.Delay(Timeout.Infinite, cancellationToken));
        if (!workers.IsCompleted)
        {
            // It is not waited for: what a handler has registered with its token can block.
            _ = abandoning.CancelAsync();
            await Task.WhenAny(workers, Task.Delay(endpoint.StopPatience, CancellationToken.None));
        }

        if (!workers.IsCompleted)
        {
            Leave(log);
            return false;
        }

        await workers;
        return true;
    }

    private void Leave(ILogger log)
    {
        ReceivedMessage[] left;
        lock (gate)
        {
            areLeft = true;
            left = [.. running];
            running.Clear();
        }

        var outcome = endpoint.Mode.CommitOrder.IsMessageLeftInHandler
            ? "The endpoint commits nothing of it any more, and the message is received again."
            : "The message has left the queue: if the process ends before the handler, it is lost.";
        foreach (var message in left)
            LogLeft(log, message.MessageId, message.Type, endpoint.StopPatience.TotalSeconds, outcome);
        if (left.Length == 0)
            LogUnsettled(log, endpoint.StopPatience.TotalSeconds);
    }

    [LoggerMessage(Level = LogLevel.Warning,
        Message = "Message {MessageId} ({Type}) is left in its handler, which has ignored its cancellation token for {Seconds} s after the host had stopped " +
            "waiting. {Outcome} Let the handler pass the token on, or end when it is cancelled.")]
    private static partial void LogLeft(ILogger log, Guid messageId, string type, double seconds, string outcome);

    [LoggerMessage(Level = LogLevel.Warning,
        Message = "The endpoint stops without having settled all messages, {Seconds} s after the host had stopped waiting: no handler runs, and a server " +
            "does not answer. A message that was not settled is received again, unless its mode had removed it from its queue.")]
    private static partial void LogUnsettled(ILogger log, double seconds);
}
