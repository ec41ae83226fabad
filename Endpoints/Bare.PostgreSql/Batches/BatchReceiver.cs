using Microsoft.Extensions.Logging;

namespace Kit.Endpoints.Bare.PostgreSql.Batches;

/// <summary>
/// Receives batches. After a failure that no message owns, the batch was rolled back and no attempt is counted: the worker then receives one
/// message at a time, so that an attempt that fails again is counted for its message alone.
/// </summary>
/// <param name="queue">The worker's session.</param>
/// <param name="one">Receives one message at a time, on the same session.</param>
/// <param name="batch">Receives a batch, on the same session.</param>
/// <param name="size">How many messages a batch has at most.</param>
/// <param name="log">Logs each batch that fails.</param>
internal sealed partial class BatchReceiver(QueueSession queue, IReceiver one, IReceiver batch, int size, ILogger log) : IReceiver
{
    // None at first: a new receiver does not know why the last one ended. Perhaps a message ends its session, or the process.
    private int handledApart;

    public async Task<bool?> ReceiveAsync(CancellationToken cancellationToken)
    {
        if (handledApart < size)
        {
            var hasHandled = await one.ReceiveAsync(cancellationToken);
            if (hasHandled is true)
                handledApart++;
            return hasHandled;
        }

        try
        {
            return await batch.ReceiveAsync(cancellationToken);
        }
        catch (Exception failure) when (queue.IsOpen && !cancellationToken.IsCancellationRequested && FailureKinds.Of(failure) is not FailureKind.Refused)
        {
            handledApart = 0;
            LogFailed(size, Failure.ReasonOf(failure).Message);
            return true;
        }
    }

    public async ValueTask DisposeAsync()
    {
        await batch.DisposeAsync();
        await one.DisposeAsync();
    }

    [LoggerMessage(Level = LogLevel.Warning, Message = "A batch of up to {Size} messages was rolled back. They are handled one at a time: {Reason}")]
    private partial void LogFailed(int size, string reason);
}
