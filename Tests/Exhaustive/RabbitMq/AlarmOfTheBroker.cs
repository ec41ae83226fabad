using System.Collections.Concurrent;
using Kit.Endpoints.Bare.RabbitMq;
using Kit.Modes;
using Kit.Runner.Servers;
using Kit.Tests.RabbitMq;

namespace Kit.Tests.Exhaustive.RabbitMq;

/// <summary>A memory alarm that lasts longer than every time-out of the driver and of the endpoint, while attempts fail.</summary>
public sealed class AlarmOfTheBroker
{
    private const int Messages = 40;

    private static readonly TimeSpan Alarm = TimeSpan.FromSeconds(45);

    [Test]
    public async Task No_message_has_more_attempts_than_the_mode_allows_and_each_is_sent_on_once()
    {
        RabbitMqServer.IgnoreWithoutPrograms();
        await using var broker = await PrivateRabbitMq.StartAsync(CancellationToken.None);
        await using var bench = await RabbitMqBench.CreateAsync(broker.Address);
        await using var built = new RabbitMqQueue(bench.Address, "built");
        await built.CreateAsync(CancellationToken.None);
        await built.SubscribeAsync(typeof(Built), CancellationToken.None);
        for (var message = 0; message < Messages; message++)
            await bench.PublishAsync("work", RabbitMqBench.Properties());
        var attempts = new ConcurrentDictionary<Guid, int>();
        var entered = new CountdownEvent(4);
        var held = new TaskCompletionSource();
        using var endpoint = bench.Build(
            TransactionMode.ScopeOff,
            async (context, cancellationToken) =>
            {
                if (!entered.IsSet)
                    entered.Signal();
                await held.Task;
                attempts.AddOrUpdate(context.MessageId, 1, (_, before) => before + 1);
                if (context.Attempt == 1)
                    throw new InvalidOperationException("not yet");

                await context.PublishAsync(new Built(), cancellationToken: cancellationToken);
            },
            concurrency: 4);
        await endpoint.StartAsync();
        await Eventually.HoldsAsync(() => entered.IsSet, "four handlers are entered");

        await AlarmAsync(broker, isOn: true);
        held.SetResult();
        await Task.Delay(Alarm);
        await AlarmAsync(broker, isOn: false);
        await Eventually.HoldsAsync(async () => await bench.Queue.CountAsync(CancellationToken.None) == 0, $"the queue is empty: {bench.Warnings}");
        await endpoint.StopAsync();

        Assert.That(attempts.Values.GroupBy(count => count).ToDictionary(count => count.Key, count => count.Count()), Is.EqualTo(
            new Dictionary<int, int> { [2] = Messages }), $"{bench.Warnings}");
        Assert.That(await built.CountAsync(CancellationToken.None), Is.EqualTo(Messages));
        Assert.That(bench.Warnings.Count("Next try"), Is.Zero, $"{bench.Warnings}");
    }

    private static Task AlarmAsync(PrivateRabbitMq broker, bool isOn) =>
        broker.ControlAsync(["set_vm_memory_high_watermark", "absolute", isOn ? "1MB" : "2GB"], CancellationToken.None);

    internal sealed record Built;
}
