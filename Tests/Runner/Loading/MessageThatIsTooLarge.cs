using Kit.Endpoints.Bare;
using Kit.Endpoints.Bare.RabbitMq;
using Kit.Endpoints.Cells;
using Kit.Runner.Results;

namespace Kit.Tests.Loading;

/// <summary>A message that is larger than a broker takes. No <c>--size</c> makes one, with the limits that brokers have.</summary>
[Parallelizable]
public sealed class MessageThatIsTooLarge
{
    // Versions before 4 take 128 MiB, and later ones 16 MiB.
    private const int TooLarge = (128 << 20) + 1;

    [Test]
    public async Task Is_refused_at_once_with_its_size_and_the_next_one_is_sent()
    {
        await using var host = await TestVirtualHost.CreateAsync();
        await using var queue = Cell.Find("bare.rabbitmq.dtc-off.ado")!.Kind.OpenQueue("orders", host.Address);
        await queue.CreateAsync(CancellationToken.None);

        var failure = await Assert.ThrowsAsync<BrokerException>(() => SendAsync(queue, TooLarge));

        Assert.That(
            KitException.TextOf(failure!),
            Does.Match($"^The broker refused a message for queue 'orders': PRECONDITION_FAILED - message size {TooLarge} is larger than [a-z ]+ [0-9]+\\.$"));
        await SendAsync(queue, 1);
        Assert.That(await queue.CountAsync(CancellationToken.None), Is.EqualTo(1));
    }

    private static Task SendAsync(IMessageQueue queue, int bytes) =>
        queue.EnqueueAsync([new OutgoingMessage(queue.Name, Guid.CreateVersion7(), "none", new byte[bytes])], CancellationToken.None);
}
