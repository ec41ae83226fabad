using Kit.Endpoints.Bare.RabbitMq;
using Kit.Endpoints.Cells;
using Kit.Guarantees;
using Kit.Tests.Contract;

namespace Kit.Tests.Wolverine;

/// <summary>What a handler sends on RabbitMQ without an outbox. When this fails, look at the limits on RabbitMQ in docs/guides/frameworks.md.</summary>
[Parallelizable]
public sealed class SendWithoutAnOutbox
{
    private const string Sink = "built";

    [Test]
    public async Task Is_not_persistent()
    {
        var cell = Cell.Find("wolverine.rabbitmq.scope-off.ado")!;
        if (TestTransport.MissingServer(cell.Kind.Transport) is { } missing)
            Assert.Ignore(missing);
        await using var bench = await CellBench.CreateAsync(cell);
        await bench.SendAsync(Situation.HandlerSucceeds);

        await bench.DrainAsync();

        await using var sink = new RabbitMqQueue(
            RabbitMqTransportSettings.Parse(bench.Settings.Transport).Broker, "unused", hasRetries: false, errors: Sink);
        Assert.That((await sink.ReadErrorPropertiesAsync(CancellationToken.None)).Single().Persistent, Is.False);
    }
}
