using Kit.Endpoints.Bare.RabbitMq;
using Kit.Endpoints.Cells;
using Kit.Guarantees;
using Kit.Tests.Contract;

namespace Kit.Tests.Wolverine;

/// <summary>What a handler sends on RabbitMQ. When this fails, look at the limits on RabbitMQ in docs/guides/frameworks.md.</summary>
[Parallelizable]
public sealed class SendOnRabbitMq
{
    private const string Sink = "built";

    [TestCase("scope-off", false)]
    [TestCase("outbox", true)]
    public async Task Is_persistent_if_it_is_stored_in_the_outbox(string mode, bool isPersistent)
    {
        await using var bench = await CellBench.CreateAsync($"wolverine.rabbitmq.{mode}.ado");
        await bench.SendAsync(Situation.HandlerSucceeds);

        await bench.DrainAsync();

        await using var sink = new RabbitMqQueue(
            RabbitMqTransportSettings.Parse(bench.Settings.Transport).Broker, "unused", hasRetries: false, errors: Sink);
        Assert.That((await sink.ReadErrorPropertiesAsync(CancellationToken.None)).Single().Persistent, Is.EqualTo(isPersistent));
    }
}
