using System.Diagnostics;
using Kit.Endpoints.Bare.Health;
using Kit.Endpoints.Bare.PostgreSql.Queues;
using Microsoft.Extensions.Logging;

namespace Kit.Endpoints.Bare.PostgreSql.Batches;

/// <summary>
/// Receives batches. If a failure cannot be charged to one message, no attempt is counted. The worker then receives one message at a time, until it
/// has handled as many as a batch has. A message that fails again is then counted alone.
/// </summary>
/// <param name="queue">The worker's session.</param>
/// <param name="one">Receives one message at a time. It owns the session.</param>
/// <param name="batch">Receives a batch, on the same session.</param>
/// <param name="size">How many messages a batch has at most.</param>
/// <param name="log">Logs each batch that fails.</param>
internal sealed partial class BatchReceiver(QueueSession queue, IReceiver one, IBatchReceiver batch, int size, ILogger log) : IReceiver
{
    // 0 at first: a message may have ended the session or the process before, and would take its neighbours with it again.
    private int handledOneByOne;

    public async Task<bool?> ReceiveAsync(CancellationToken cancellationToken)
    {
        if (handledOneByOne < size)
        {
            var hasHandled = await one.ReceiveAsync(cancellationToken);
            if (hasHandled is true)
                handledOneByOne++;
            return hasHandled;
        }

        try
        {
            var start = Stopwatch.GetTimestamp();
            var hasHandled = await batch.ReceiveAsync(cancellationToken);
            if (hasHandled is true)
                EndpointMeter.BatchDuration.Record(Stopwatch.GetElapsedTime(start).TotalSeconds);
            return hasHandled;
        }
        catch (Exception failure) when (
            queue.IsOpen && !cancellationToken.IsCancellationRequested && FailureKinds.OfPostgreSql.Of(failure) is not FailureKind.Refused)
        {
            handledOneByOne = 0;
            LogFailed(Failure.ReasonOf(failure).Message, size);
            return true;
        }
    }

    public ValueTask DisposeAsync() => one.DisposeAsync();

    [LoggerMessage(
        Level = LogLevel.Warning,
        Message = "A batch of messages failed: {Reason} The worker receives one message at a time until it has handled {Size}.")]
    private partial void LogFailed(string reason, int size);
}
