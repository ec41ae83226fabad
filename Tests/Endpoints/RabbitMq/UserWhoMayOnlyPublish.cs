using Kit.Endpoints.Bare;
using Kit.Endpoints.Bare.RabbitMq;
using Kit.Modes;

namespace Kit.Tests.RabbitMq;

/// <summary>The exchange of an event, created by an administrator: the endpoint's user may publish to it, and not configure it.</summary>
[Parallelizable]
public sealed class UserWhoMayOnlyPublish
{
    [TestCaseSource(typeof(RabbitMqBench), nameof(RabbitMqBench.Modes))]
    public async Task An_event_reaches_its_subscribers(TransactionMode mode)
    {
        await using var bench = await RabbitMqBench.CreateAsync();
        await using var subscriber = new RabbitMqQueue(bench.Address, "subscriber");
        await subscriber.CreateAsync(CancellationToken.None);
        await subscriber.BindExchangeAsync(OutgoingMessage.CreateEvent(new Built()).Type, CancellationToken.None);
        var user = await bench.Host.AddUserAsync($"user-{Guid.NewGuid():N}", configure: "^work");
        await bench.PublishAsync("work", RabbitMqBench.Properties());
        using var endpoint = bench.Build(
            mode,
            (context, cancellationToken) => context.PublishAsync(new Built(), cancellationToken: cancellationToken),
            configure: configured => configured.UseRabbitMq(user, bench.Widgets));

        await endpoint.StartAsync();
        await Eventually.HoldsAsync(async () => await bench.Queue.CountAsync(CancellationToken.None) == 0, $"the queue is empty: {bench.Warnings}");
        await endpoint.StopAsync();

        Assert.That(await bench.CountAsync("subscriber"), Is.EqualTo(1), $"{bench.Warnings}");
        Assert.That(await bench.Queue.ReadErrorsAsync(CancellationToken.None), Is.Empty);
    }

    internal sealed record Built;
}
