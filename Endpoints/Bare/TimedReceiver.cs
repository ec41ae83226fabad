using Kit.Endpoints.Bare.Health;

namespace Kit.Endpoints.Bare;

/// <summary>Measures a worker's receiver: the receive before the handler, and the settling of the message after it.</summary>
internal sealed class TimedReceiver(IReceiver receiver, AttemptClock clock) : IReceiver
{
    /// <param name="pipeline">The endpoint's pipeline.</param>
    /// <param name="open">Creates the receiver of one worker from the worker's own pipeline.</param>
    public static async Task<IReceiver> OpenAsync(MessagePipeline pipeline, Func<MessagePipeline, Task<IReceiver>> open)
    {
        var clock = new AttemptClock(pipeline.Telemetry);
        return new TimedReceiver(await open(pipeline.MeasuredBy(clock)), clock);
    }

    public async Task<bool?> ReceiveAsync(CancellationToken cancellationToken)
    {
        clock.Begin();
        try
        {
            var hasHandled = await receiver.ReceiveAsync(cancellationToken);
            clock.End(failure: null);
            return hasHandled;
        }
        catch (Exception failure)
        {
            clock.End(failure);
            throw;
        }
    }

    public ValueTask DisposeAsync() => receiver.DisposeAsync();
}
