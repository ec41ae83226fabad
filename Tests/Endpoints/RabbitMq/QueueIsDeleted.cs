using Kit.Modes;

namespace Kit.Tests.RabbitMq;

/// <summary>Somebody deletes the queue of an endpoint whose handlers are busy, so that none waits for a delivery that does not come.</summary>
[Parallelizable]
public sealed class QueueIsDeleted
{
    private static IEnumerable<TransactionMode> Modes => RabbitMqBench.Modes;

    [TestCaseSource(nameof(Modes))]
    public async Task The_endpoint_says_so_and_that_it_has_made_it_again(TransactionMode mode)
    {
        await using var bench = await RabbitMqBench.CreateAsync();
        var begun = new TaskCompletionSource();
        var gate = new TaskCompletionSource();
        using var endpoint = bench.Build(mode, async (_, _) =>
        {
            begun.TrySetResult();
            await gate.Task;
        });
        await bench.PublishAsync(RabbitMqBench.Endpoint, RabbitMqBench.Properties());
        await endpoint.StartAsync();
        await begun.Task.WaitAsync(Eventually.Limit);

        await bench.OnChannelAsync(channel => channel.QueueDeleteAsync(RabbitMqBench.Endpoint, ifUnused: false, ifEmpty: false));
        gate.SetResult();

        await Eventually.HoldsAsync(
            () => bench.Warnings.ToString().Contains("The broker ended the consumer", StringComparison.Ordinal)
                && bench.Warnings.ToString().Contains($"'{RabbitMqBench.Endpoint}' was no longer there", StringComparison.Ordinal),
            $"the endpoint says so: {bench.Warnings}");
        await endpoint.StopAsync();
    }
}
