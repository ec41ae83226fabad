using Kit.Guarantees;
using Kit.Tests.Contract;

namespace Kit.Tests.Wolverine;

/// <summary>
/// A message that was given up comes back on RabbitMQ while the inbox has its id. When this fails, look at the limits in docs/guides/frameworks.md.
/// </summary>
[Parallelizable]
public sealed class DeadLetterIsReturned
{
    [Test]
    public async Task And_Wolverine_drops_it()
    {
        await using var bench = await CellBench.CreateAsync("wolverine.rabbitmq.outbox.ado");
        var message = await bench.SendAsync(Situation.AlwaysThrowsAfterInsert);
        await bench.StartAsync();
        await Eventually.HoldsAsync(async () => (await bench.ReadErrorsAsync()).Count == 1, "the message is dead-lettered");
        await Eventually.HoldsAsync(async () => await bench.CountQueueAsync() == 0, "the queue is empty");

        await bench.SendAgainAsync(message);
        await bench.DrainAsync();

        Assert.That(bench.Entered, Is.EqualTo(bench.Cell.Mode.Attempts));
        Assert.That(await bench.ReadErrorsAsync(), Has.Count.EqualTo(1));
    }
}
