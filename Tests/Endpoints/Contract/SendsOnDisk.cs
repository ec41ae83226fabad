using Kit.Endpoints.Cells;
using Kit.Guarantees;
using RabbitMQ.Client;

namespace Kit.Tests.Contract;

/// <summary>A broker writes persistent messages to disk, which costs time: the speeds of cells whose sends are not persistent have no verdict.</summary>
public sealed class SendsOnDisk(Cell cell) : ContractTest(cell)
{
    [Test]
    public async Task A_send_is_persistent_unless_the_kit_says_otherwise()
    {
        if (Cell.Kind.Transport != TransportName.RabbitMq)
            Assert.Ignore("No broker.");
        await Bench.SendAsync(Situation.HandlerSucceeds);

        await Bench.DrainAsync();

        var broker = RabbitMqTransportSettings.Parse(Bench.Settings.Transport).Broker;
        await using var connection = await new ConnectionFactory { Uri = broker.Amqp }.CreateConnectionAsync();
        await using var channel = await connection.CreateChannelAsync();
        var sent = await channel.BasicGetAsync(CellBench.Sink, autoAck: true);
        Assert.That(sent!.BasicProperties.Persistent, Is.EqualTo(!SendsInMemory.Are(Cell.Kind.Framework, Cell.Kind.Transport, Cell.Mode.Name)));
    }
}
