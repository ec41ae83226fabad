using RabbitMQ.Client.Exceptions;

namespace Kit.Tests.RabbitMq;

[Parallelizable]
public sealed class QueueGoesAwayWhileItIsRead
{
    private RabbitMqBench bench = null!;

    [SetUp]
    public async Task SetUp() => bench = await RabbitMqBench.CreateAsync();

    [TearDown]
    public async Task TearDown() => await bench.DisposeAsync();

    [Test]
    public async Task What_was_read_is_not_taken_for_all()
    {
        for (var message = 0; message < 3; message++)
            await bench.PublishAsync(RabbitMqBench.Endpoint, RabbitMqBench.Properties());

        Assert.That(
            () => bench.Queue.ReadBodiesAsync((id, _) => DropWith(id), CancellationToken.None), Throws.InstanceOf<OperationInterruptedException>());
    }

    [Test]
    public async Task A_queue_that_is_not_there_is_empty()
    {
        await bench.Queue.DropAsync(CancellationToken.None);

        Assert.That(await bench.Queue.ReadMessagesAsync(CancellationToken.None), Is.Empty);
    }

    private Guid DropWith(Guid id)
    {
        bench.Queue.DropAsync(CancellationToken.None).GetAwaiter().GetResult();
        return id;
    }
}
