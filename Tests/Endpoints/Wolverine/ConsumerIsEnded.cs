using Kit.Endpoints.Cells;
using Kit.Guarantees;
using Kit.Tests.Contract;

namespace Kit.Tests.Wolverine;

/// <summary>
/// The broker ends the consumer, and keeps the connection: it does so when the queue is deleted, or its node stops. When this fails, look at finding 21 in
/// docs/reference/findings.md.
/// </summary>
[Parallelizable]
public sealed class ConsumerIsEnded
{
    private static readonly TimeSpan Silence = TimeSpan.FromSeconds(15);

    [TestCase("scope-off"), TestCase("outbox"), Exhaustive]
    public async Task And_Wolverine_receives_nothing_until_it_is_started_again(string mode)
    {
        await using var bench = await CellBench.CreateAsync($"wolverine.rabbitmq.{mode}.ado");
        await bench.StartAsync();
        await using (var connection = await RabbitMqTransportSettings.Parse(bench.Settings.Transport).Broker.ConnectAsync(
            "test", timeout: null, CancellationToken.None))
        {
            await using var channel = await connection.CreateChannelAsync();
            await channel.QueueDeleteAsync(bench.Settings.Queue, ifUnused: false, ifEmpty: false);
        }

        await using (var again = bench.Cell.Kind.OpenQueueOf(bench.Cell.Mode, bench.Cell.Name, bench.Settings.Transport, bench.Settings.Widgets))
            await again.CreateAsync(CancellationToken.None);
        await bench.SendAsync(Situation.HandlerSucceeds);
        await Task.Delay(Silence);
        var before = bench.Entered;
        await bench.StopAsync();
        await bench.DrainAsync();

        Assert.That((before, bench.Entered), Is.EqualTo((0, 1)));
    }
}
