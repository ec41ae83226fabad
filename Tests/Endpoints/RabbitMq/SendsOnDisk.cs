using Kit.Endpoints.Cells;
using Kit.Guarantees;
using Kit.Tests.Contract;
using RabbitMQ.Client;

namespace Kit.Tests.RabbitMq;

/// <summary>A broker writes persistent messages to disk, which costs time: the speeds of cells whose sends are not persistent have no verdict.</summary>
[TestFixtureSource(typeof(RabbitMqCells), nameof(RabbitMqCells.All))]
[Parallelizable]
public sealed class SendsOnDisk(Cell cell)
{
    [Test]
    public async Task A_send_is_persistent_unless_the_kit_says_otherwise()
    {
        await using var bench = await CellBench.CreateAsync(cell);
        await bench.SendAsync(Situation.HandlerSucceeds);

        await bench.DrainAsync();

        var broker = RabbitMqTransportSettings.Parse(bench.Settings.Transport).Broker;
        await using var connection = await new ConnectionFactory { Uri = broker.Amqp }.CreateConnectionAsync();
        await using var channel = await connection.CreateChannelAsync();
        var sent = await channel.BasicGetAsync(CellBench.Sink, autoAck: true);
        Assert.That(sent!.BasicProperties.Persistent, Is.EqualTo(!SendsInMemory.Are(cell.Kind.Framework, cell.Kind.Transport, cell.Mode.Name)));
    }
}
