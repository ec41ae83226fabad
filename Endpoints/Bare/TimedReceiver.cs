using Kit.Endpoints.Bare.Health;

namespace Kit.Endpoints.Bare;

/// <summary>Measures a worker's receiver: what comes before the handler is the receive, what comes after it settles the message.</summary>
internal sealed class TimedReceiver(IReceiver receiver, AttemptClock clock) : IReceiver
{
    /// <param name="pipeline">The endpoint's.</param>
    /// <param name="open">Makes the receiver of one worker, with a pipeline of its own.</param>
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
