using Kit.Endpoints.Cells;
using Kit.Guarantees;
using Kit.Modes;
using Kit.Runner.Servers;
using Kit.Tests.Contract;

namespace Kit.Tests.Wolverine;

/// <summary>The error queue on RabbitMQ takes no message for a while, and the message is in Wolverine's inbox.</summary>
[Parallelizable]
public sealed class DeadLetterIsRefused
{
    private const string Scheduled = "SELECT count(*)::int FROM wolverine_incoming_envelopes WHERE status = 'Scheduled'";

    [Test, Exhaustive]
    public async Task The_message_waits_in_the_inbox_and_is_dead_lettered_later()
    {
        await using var bench = await CellBench.CreateAsync("wolverine.rabbitmq.outbox.ado");
        var broker = RabbitMqTransportSettings.Parse(bench.Settings.Transport).Broker;
        await using (await RefusingQueue.MakeAsync(broker, ErrorQueue.Of(bench.Settings.Queue), CancellationToken.None))
        {
            await bench.SendAsync(Situation.AlwaysThrowsAfterInsert);
            await bench.StartAsync();
            await Eventually.HoldsAsync(
                async () => await TestDatabases.ScalarAsync(bench.Settings.Widgets, Scheduled) == 1, "the message waits in the inbox");
        }

        Assert.That(await bench.ReadErrorsAsync(), Is.Empty);

        await Eventually.HoldsAsync(async () => (await bench.ReadErrorsAsync()).Count == 1, "the message is dead-lettered");

        await bench.StopAsync();
        Assert.That(await bench.CountQueueAsync(), Is.Zero);
        Assert.That(await bench.CountRowsAsync(), Is.Zero);
    }
}
