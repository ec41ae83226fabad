using Kit.Benchmarks.Harness;
using Kit.Endpoints.Bare;
using Kit.Runner.Rounds;

namespace Kit.Benchmarks.Waits;

/// <summary>An unwatched drain, whose sessions are sampled.</summary>
internal sealed class SampledHandler(IContestant drained, WaitSampler sampler, WaitsOfACell waits) : IContestant
{
    public string QueueName => drained.QueueName;

    public string QueueDatabase => drained.QueueDatabase;

    public double? OwnPerSecond => null;

    public static async Task<IContestant> StartAsync(
        HandlerSpec spec, WaitSampler sampler, WaitsOfACell waits, CancellationToken cancellationToken) =>
        new SampledHandler(await UnwatchedHandler.StartAsync(spec, cancellationToken), sampler, waits);

    public async Task DrainAsync(int messages, IMessageQueue queue, CancellationToken cancellationToken)
    {
        using var drain = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        var sampling = sampler.RunAsync(drain.Token);
        try
        {
            await drained.DrainAsync(messages, queue, cancellationToken);
        }
        finally
        {
            await drain.CancelAsync();
            // The warm-up is drained first; the last drain is the measured one.
            waits.Last = await sampling;
        }
    }

    public ValueTask DisposeAsync() => drained.DisposeAsync();
}
