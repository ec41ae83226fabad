using Kit.Endpoints.Bare;
using Kit.Endpoints.Bare.Health;
using Kit.Endpoints.Bare.Outbox;
using Kit.Modes;
using Microsoft.Extensions.Logging.Abstractions;
using Npgsql;

namespace Kit.Tests.Outbox;

/// <summary>The outbox, when a queue that its handler sends to does not exist for a while.</summary>
[Parallelizable]
public sealed class QueueIsMissing
{
    private const string Sink = "built";
    private const string Missing = "missing";

    [TestCase("postgresql")]
    [TestCase("rabbitmq")]
    public async Task What_was_sent_arrives_when_the_queue_is_created_and_the_message_was_done_all_the_while(string transport)
    {
        await using var bench = await OutboxBench.CreateAsync(transport);
        using var endpoint = bench.Build(message => [(Sink, message)]);
        await endpoint.StartAsync();
        var messages = await bench.SendAsync(2);
        await bench.DrainedAsync();
        await Eventually.HoldsAsync(async () => bench.Entered == 2 && await bench.CountWaitingAsync() == 2, "the sends wait");
        var waiting = await bench.ReadBacklogAsync();
        Assert.That(waiting, Has.Property("Records").EqualTo(2).And.Property("OldestAge").GreaterThan(TimeSpan.Zero));

        var sink = bench.OpenQueue(Sink);
        await sink.CreateAsync(CancellationToken.None);
        var arrives = await Eventually.IsSoAsync(async () => await sink.CountAsync(CancellationToken.None) == 2, Eventually.Limit);
        await endpoint.StopAsync();

        using (Assert.EnterMultipleScope())
        {
            Assert.That(arrives, Is.True, "the sends arrive");
            Assert.That(await sink.ReadMessagesAsync(CancellationToken.None), Is.EquivalentTo(messages));
            Assert.That(await bench.Queue.ReadErrorsAsync(CancellationToken.None), Is.Empty);
            Assert.That(bench.Entered, Is.EqualTo(2), "handled");
            Assert.That(await bench.ReadBacklogAsync(), Is.EqualTo(new OutboxBacklog(0, OldestAge: null)));
        }
    }

    /// <summary>That is when somebody looks at the gauges.</summary>
    [Test]
    public async Task What_waits_is_counted_while_the_queues_are_out_of_reach()
    {
        await using var bench = await OutboxBench.CreateAsync("postgresql");
        await bench.LeaveAsync(2, Sink);
        await using var widgets = NpgsqlDataSource.Create(bench.Databases.Widgets);
        await using var dispatcher = OutboxDispatcher.Start(
            new OutboxStore(widgets, OutboxBench.Endpoint, TransactionMode.Outbox.Isolation, retention: null),
            _ => throw new NpgsqlException("The queues are away."),
            new OutboxSchedule(Interval: TimeSpan.FromMilliseconds(300), Grace: TimeSpan.FromMilliseconds(100)), NullLogger.Instance);

        await Eventually.HoldsAsync(() => dispatcher.Backlog is { Records: 2 }, "they are counted");

        Assert.That(dispatcher.Backlog?.OldestAge, Is.GreaterThan(TimeSpan.Zero));
    }

    [TestCase("postgresql")]
    [TestCase("rabbitmq", Category = ExhaustiveAttribute.Category)]
    public async Task What_the_same_handler_sent_to_other_queues_arrives_once_and_in_its_order(string transport)
    {
        await using var bench = await OutboxBench.CreateAsync(transport);
        var sink = bench.OpenQueue(Sink);
        await sink.CreateAsync(CancellationToken.None);
        var (first, second) = (Guid.CreateVersion7(), Guid.CreateVersion7());
        using var log = new WarningsOfAHost();
        using var endpoint = bench.Build(
            _ => [(Sink, first), (Missing, Guid.CreateVersion7()), (Sink, second)], schedule: OutboxBench.Patient, log: log);
        await endpoint.StartAsync();
        await bench.SendAsync(1);

        await Eventually.HoldsAsync(
            async () => await bench.CountWaitingAsync() == 1 && await sink.CountAsync(CancellationToken.None) == 2, "the others arrive");
        // For two searches more: what was dispatched is not dispatched again together with what is refused.
        await Eventually.HoldsAsync(() => log.Count("(refusal 2)") > 0, "what is refused is tried again");
        await endpoint.StopAsync();

        Assert.That(await sink.ReadMessagesAsync(CancellationToken.None), Is.EqualTo(new[] { first, second }));
        Assert.That(await bench.CountWaitingAsync(), Is.EqualTo(1));
    }

    // More than are searched for at once, so that the search goes on behind those that are refused.
    [TestCase("postgresql")]
    [TestCase("rabbitmq")]
    public async Task What_waits_for_it_keeps_back_nothing_else(string transport)
    {
        await using var bench = await OutboxBench.CreateAsync(transport);
        var sink = bench.OpenQueue(Sink);
        await sink.CreateAsync(CancellationToken.None);
        await bench.LeaveAsync(1_500, Missing);
        await bench.LeaveAsync(20, Sink);
        using var endpoint = bench.Build(_ => []);
        await endpoint.StartAsync();

        await Eventually.HoldsAsync(async () => await bench.CountWaitingAsync() == 1_500, "the others are dispatched");
        await endpoint.StopAsync();

        Assert.That(await sink.CountAsync(CancellationToken.None), Is.EqualTo(20));
    }
}
