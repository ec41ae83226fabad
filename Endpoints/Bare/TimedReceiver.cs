using System.Diagnostics;
using Kit.Endpoints.Bare.Health;

namespace Kit.Endpoints.Bare;

/// <summary>
/// Measures a worker's receiver: the receive before the handler, each attempt, and the settling of the message after it. A worker has one attempt at a time,
/// and several after one receive if it receives batches.
/// </summary>
internal sealed class TimedReceiver : IReceiver
{
    private readonly EndpointTelemetry telemetry;
    private IReceiver receiver = null!;
    private long begun;
    private long handled;
    private bool isReceiveRecorded;
    private Guid messageId;
    private ActivityContext processing;

    private TimedReceiver(EndpointTelemetry telemetry) => this.telemetry = telemetry;

    /// <param name="pipeline">The endpoint's pipeline.</param>
    /// <param name="open">Creates the receiver of one worker from the worker's own pipeline.</param>
    public static async Task<IReceiver> OpenAsync(MessagePipeline pipeline, Func<MessagePipeline, Task<IReceiver>> open)
    {
        var timed = new TimedReceiver(pipeline.Telemetry);
        timed.receiver = await open(pipeline.MeasuredBy(timed));
        return timed;
    }

    public async Task<bool?> ReceiveAsync(CancellationToken cancellationToken)
    {
        begun = Stopwatch.GetTimestamp();
        handled = 0;
        isReceiveRecorded = false;
        try
        {
            var hasHandled = await receiver.ReceiveAsync(cancellationToken);
            Settled(failure: null);
            return hasHandled;
        }
        catch (Exception failure)
        {
            Settled(failure);
            throw;
        }
    }

    /// <summary>The receiver has received a message, and calls the handler.</summary>
    public async Task ProcessAsync(Guid message, IReadOnlyDictionary<string, string> headers, Func<Task> handle)
    {
        var received = Stopwatch.GetTimestamp();
        if (!isReceiveRecorded)
            telemetry.Received(Stopwatch.GetElapsedTime(begun, received));
        isReceiveRecorded = true;
        using var activity = telemetry.Process(message, headers);
        messageId = message;
        processing = activity?.Context ?? default;
        Exception? failure = null;
        try
        {
            await handle();
        }
        catch (Exception failed)
        {
            failure = failed;
            throw;
        }
        finally
        {
            handled = Stopwatch.GetTimestamp();
            telemetry.Processed(activity, Stopwatch.GetElapsedTime(received, handled), failure);
        }
    }

    public ValueTask DisposeAsync() => receiver.DisposeAsync();

    /// <summary>The worker has settled the message, or the last of its batch, or there was none.</summary>
    private void Settled(Exception? failure)
    {
        if (handled != 0)
            telemetry.Settled(messageId, processing, Stopwatch.GetElapsedTime(handled), failure);
    }
}
