using Kit.Endpoints.Bare;
using Kit.Endpoints.Bare.RabbitMq;
using RabbitMQ.Client;
using RabbitMQ.Client.Events;

namespace Kit.Tests.RabbitMq;

/// <summary>Without acknowledgements: what the broker has pushed nobody else has.</summary>
[Parallelizable]
public sealed class InboxThatEnds
{
    [Test]
    public async Task What_the_driver_has_not_handed_over_yet_is_still_given()
    {
        await using var broker = await TestVirtualHost.CreateAsync();
        var address = RabbitMqAddress.Parse(broker.Address);
        await using var queue = new RabbitMqQueue(address, "work");
        await using var other = new RabbitMqQueue(address, "other");
        await queue.CreateAsync(CancellationToken.None);
        await other.CreateAsync(CancellationToken.None);
        await using var connection = await Broker.ConnectAsync(address, "test", CancellationToken.None);
        await using var inbox = await Inbox.OpenAsync(connection, "work", prefetch: 10, autoAcknowledge: true, CancellationToken.None);

        // The driver hands over one delivery of a channel after the other.
        var handedOver = new TaskCompletionSource();
        var held = new TaskCompletionSource();
        var slow = new AsyncEventingBasicConsumer(inbox.Channel);
        slow.ReceivedAsync += async (_, _) =>
        {
            handedOver.SetResult();
            await held.Task;
        };
        await inbox.Channel.BasicConsumeAsync("other", autoAck: true, slow);
        await other.EnqueueAsync([OutgoingMessage.Create("other", "slow")], CancellationToken.None);
        await handedOver.Task.WaitAsync(Eventually.Limit);
        await queue.EnqueueAsync([OutgoingMessage.Create("work", "first"), OutgoingMessage.Create("work", "second")], CancellationToken.None);
        await Eventually.HoldsAsync(async () => await queue.CountAsync(CancellationToken.None) == 0, "the broker has pushed them");

        await inbox.EndAsync();
        var isFinished = inbox.IsFinished;
        held.SetResult();

        Assert.That(isFinished, Is.False);
        Assert.That(await inbox.TakeAsync(Eventually.Limit), Is.Not.Null);
        Assert.That(await inbox.TakeAsync(Eventually.Limit), Is.Not.Null);
        Assert.That(await inbox.TakeAsync(Eventually.Limit), Is.Null);
        Assert.That(inbox.IsFinished, Is.True);
    }
}
