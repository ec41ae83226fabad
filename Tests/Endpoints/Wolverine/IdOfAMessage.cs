using System.Text.Json;
using Kit.Endpoints.Cells;
using Kit.Guarantees;
using Kit.Handlers;
using Kit.Tests.Contract;
using RabbitMQ.Client;

namespace Kit.Tests.Wolverine;

/// <summary>
/// A message that comes twice on RabbitMQ. Wolverine's inbox knows it again by its id. When this fails, look at the limits on RabbitMQ in
/// docs/guides/frameworks.md.
/// </summary>
[Parallelizable]
public sealed class IdOfAMessage
{
    [TestCase("0198c0de-0000-7000-8000-000000000017", 1)]
    [TestCase("order-17", 2)]
    [TestCase(null, 2)]
    public async Task Is_known_again_if_it_is_a_GUID(string? id, int handled)
    {
        await using var bench = await CellBench.CreateAsync("wolverine.rabbitmq.outbox.ado");
        var message = await bench.SendAsync(Situation.HandlerSucceeds);
        await using var connection = await RabbitMqTransportSettings.Parse(bench.Settings.Transport).Broker.ConnectAsync(
            "sender", timeout: null, CancellationToken.None);
        await using var channel = await connection.CreateChannelAsync();
        for (var copy = 0; copy < 2; copy++)
        {
            var properties = new BasicProperties { MessageId = id, Type = typeof(BuildWidget).FullName, ContentType = "application/json" };
            await channel.BasicPublishAsync(
                "", bench.Settings.Queue, mandatory: true, properties, JsonSerializer.SerializeToUtf8Bytes(new BuildWidget(message)));
        }

        await bench.DrainAsync();

        Assert.That(bench.Entered, Is.EqualTo(1 + handled));
    }
}
