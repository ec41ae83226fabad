using Kit.Endpoints.Bare.RabbitMq;
using Kit.Endpoints.Cells;
using Kit.Guarantees;
using Kit.Tests.Contract;

namespace Kit.Tests.RabbitMq;

/// <summary>The contract's longest way, on quorum queues.</summary>
[TestFixtureSource(typeof(RabbitMqCells), nameof(RabbitMqCells.OneOfEachFramework))]
[Parallelizable]
public sealed class QuorumQueues(Cell cell)
{
    [Test]
    public async Task Handled_retried_and_given_up_as_on_classic_queues()
    {
        await using var bench = await CellBench.CreateAsync(
            cell, address => new RabbitMqTransportSettings(RabbitMqAddress.Parse(address), QueueType.Quorum).Text);
        var succeeds = await bench.SendAsync(Situation.HandlerSucceeds);
        var fails = await bench.SendAsync(Situation.AlwaysThrowsAfterInsert);

        await bench.DrainAsync();

        Assert.That(await bench.ObserveAsync(succeeds), Is.EqualTo(Expectation.Of(cell.Mode, Situation.HandlerSucceeds)));
        Assert.That(await bench.ObserveAsync(fails), Is.EqualTo(Expectation.Of(cell.Mode, Situation.AlwaysThrowsAfterInsert)));
    }
}
