using System.Diagnostics;

namespace Kit.Endpoints.Bare.Health;

/// <summary>The times of one worker's current attempt. A worker has one attempt at a time, and several after one receive if it receives batches.</summary>
internal sealed class AttemptClock(EndpointTelemetry telemetry)
{
    private long begun;
    private long handled;
    private bool isReceiveRecorded;
    private Guid messageId;
    private ActivityContext processing;

    /// <summary>The worker starts to receive.</summary>
    public void Begin()
    {
        begun = Stopwatch.GetTimestamp();
        handled = 0;
        isReceiveRecorded = false;
    }

    /// <summary>The worker has received a message, and calls the handler.</summary>
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

    /// <summary>The worker has settled the message, or the last of its batch, or there was none.</summary>
    public void End(Exception? failure)
    {
        if (handled != 0)
            telemetry.Settled(messageId, processing, Stopwatch.GetElapsedTime(handled), failure);
    }
}
