using System.Diagnostics;
using Kit.Endpoints.Bare;
using Kit.Endpoints.Bare.RabbitMq;
using Kit.Modes;
using Kit.Runner.Servers;
using Kit.Tests.Bare;

namespace Kit.Tests.RabbitMq;

/// <summary>A broker that takes nothing more because of an alarm, and one that takes no large message.</summary>
[Parallelizable]
public sealed class BrokerAtItsLimits
{
    private const int Limit = 1 << 20;

    // Enough for the broker to say that it blocks a connection, or to confirm when it does no longer.
    private static readonly TimeSpan Deadline = TimeSpan.FromSeconds(5);

    // What it takes if nobody says otherwise.
    private const int NoLimit = 128 << 20;

    private PrivateRabbitMq broker = null!;
    private int? limit;
    private bool isAlarmed;
    private RabbitMqBench bench = null!;

    [OneTimeSetUp]
    public async Task StartBroker()
    {
        RabbitMqServer.IgnoreWithoutPrograms();
        broker = await PrivateRabbitMq.StartAsync(CancellationToken.None);
    }

    [OneTimeTearDown]
    public async Task StopBroker()
    {
        if (broker is not null)
            await broker.DisposeAsync();
    }

    [SetUp]
    public async Task SetUp()
    {
        bench = await RabbitMqBench.CreateAsync(broker.Address);
        await bench.CreateQueueAsync("built");
    }

    [TearDown]
    public async Task TearDown()
    {
        await AlarmAsync(isOn: false);
        await bench.DisposeAsync();
    }

    [Test]
    public async Task During_an_alarm_a_publish_waits_and_then_arrives_once()
    {
        await using var connection = await SendingConnection.OpenAsync(bench.Address, "test", Timeout.InfiniteTimeSpan, CancellationToken.None);
        using var publisher = new Publisher(connection) { ConfirmDeadline = Deadline };
        await AlarmAsync(isOn: true);

        // The broker blocks the connection when it publishes.
        var during = publisher.PublishAsync("built", RabbitMqBench.Properties(), "{}"u8.ToArray(), CancellationToken.None);
        await Eventually.HoldsAsync(() => connection.Blocked.IsCompleted, "the broker says that the connection is blocked");
        var after = publisher.PublishAsync("built", RabbitMqBench.Properties(), "{}"u8.ToArray(), CancellationToken.None);
        await Task.Delay(2 * Deadline);

        Assert.That(during.IsCompleted || after.IsCompleted, Is.False, "they wait");
        await AlarmAsync(isOn: false);
        await Task.WhenAll(during, after);
        Assert.That(await bench.CountAsync("built"), Is.EqualTo(2));
    }

    // As an administrator can set it for a virtual host and, on RabbitMQ 4, for a node.
    [Test]
    public async Task Where_queues_are_quorum_queues_by_default_a_classic_one_is_classic_and_found_as_such_at_the_next_start()
    {
        await broker.ControlAsync(["add_vhost", "typed", "--default-queue-type", "quorum"], CancellationToken.None);
        await broker.ControlAsync(["set_permissions", "-p", "typed", broker.Address.UserName, ".*", ".*", ".*"], CancellationToken.None);
        var typed = broker.Address.In("typed");
        for (var start = 0; start < 2; start++)
        {
            using var endpoint = bench.Build(
                TransactionMode.ScopeOff, (_, _) => Task.CompletedTask, configure: configured => configured.UseRabbitMq(typed.Text, bench.Widgets));
            await endpoint.StartAsync();
            await endpoint.StopAsync();
        }

        using var management = new ManagementApi(typed);
        foreach (var queue in new[] { "work", "work_retry", "work_error" })
            Assert.That((await management.ReadQueueAsync(queue, CancellationToken.None)).Type, Is.EqualTo("classic"), queue);
        Assert.That(bench.Warnings.Lines, Is.Empty);
    }

    // The broker closes the channel, on which others are under way.
    [Test]
    public async Task One_dead_letter_that_is_too_large_stays_and_the_others_go_back_once()
    {
        var small = Enumerable.Range(0, 40).Select(_ => Guid.CreateVersion7()).ToList();
        var errors = ErrorQueue.Of(RabbitMqBench.Endpoint);
        await LimitAsync(NoLimit);
        foreach (var id in small.Take(20))
            await bench.PublishAsync(errors, RabbitMqBench.Properties(id));
        await bench.PublishAsync(errors, RabbitMqBench.Properties(), new byte[2 * Limit]);
        foreach (var id in small.Skip(20))
            await bench.PublishAsync(errors, RabbitMqBench.Properties(id));
        await LimitAsync(Limit);

        Assert.That(
            () => bench.Queue.ReturnErrorsAsync(messageIds: null, CancellationToken.None),
            Throws.TypeOf<BrokerException>().With.Message.Contains("PRECONDITION_FAILED"));

        Assert.That(await bench.Queue.ReadMessagesAsync(CancellationToken.None), Is.EqualTo(small));
        Assert.That(await bench.CountAsync(errors), Is.EqualTo(1));
    }

    [Test]
    public async Task A_sender_that_does_not_wait_is_told_whether_its_message_may_still_arrive()
    {
        await using var connection = await SendingConnection.OpenAsync(bench.Address, "test", Deadline, CancellationToken.None);
        using var publisher = new Publisher(connection) { ConfirmDeadline = TimeSpan.FromMinutes(5) };
        await AlarmAsync(isOn: true);

        var under = await Assert.ThrowsAsync<BrokerException>(
            () => publisher.PublishAsync("built", RabbitMqBench.Properties(), "{}"u8.ToArray(), CancellationToken.None));
        var later = await Assert.ThrowsAsync<BrokerException>(
            () => publisher.PublishAsync("built", RabbitMqBench.Properties(), "{}"u8.ToArray(), CancellationToken.None));

        Assert.That(under!.Message, Does.Contain("may still arrive"));
        Assert.That(later!.Message, Does.Contain("was not sent").And.Contain("low on memory"));
        await AlarmAsync(isOn: false);
        await Eventually.HoldsAsync(async () => await bench.CountAsync("built") == 1, "the first arrives");
    }

    [Exhaustive]
    [TestCaseSource(typeof(RabbitMqBench), nameof(RabbitMqBench.Modes))]
    public async Task An_endpoint_that_waits_for_the_end_of_an_alarm_stops(TransactionMode mode)
    {
        await bench.PublishAsync("work", RabbitMqBench.Properties());
        await AlarmAsync(isOn: true);
        using var endpoint = bench.Build(mode, (context, token) => context.SendAsync("built", "a widget", cancellationToken: token));
        await endpoint.StartAsync();
        await Eventually.HoldsAsync(() => bench.Warnings.Count("accepts no messages at the moment") > 0, "the broker blocks it");

        var watch = Stopwatch.StartNew();
        using var patience = new CancellationTokenSource(TimeSpan.FromSeconds(1));
        await endpoint.StopAsync(patience.Token);

        Assert.That(watch.Elapsed, Is.LessThan(TimeSpan.FromSeconds(15)));
    }

    [TestCaseSource(typeof(RabbitMqBench), nameof(RabbitMqBench.Modes))]
    public async Task A_send_that_is_too_large_fails_its_message_and_no_other(TransactionMode mode)
    {
        await LimitAsync(Limit);
        for (var sent = 0; sent < 10; sent++)
            await bench.PublishAsync("work", RabbitMqBench.Properties());
        var large = Guid.CreateVersion7();
        await bench.PublishAsync("work", RabbitMqBench.Properties(large));

        await bench.HandleAsync(mode, (context, token) =>
            context.SendAsync("built", new string('x', context.MessageId == large ? 2 * Limit : 1), cancellationToken: token));

        Assert.That(await bench.CountAsync("built"), Is.EqualTo(10));
        if (mode == TransactionMode.Outbox)
            Assert.That(bench.Warnings.Count("is larger than configured max size"), Is.Positive);
        else
            Assert.That((await bench.Queue.ReadErrorsAsync(CancellationToken.None)).Single().Reason, Does.Contain("is larger than configured max size"));
        Assert.That(bench.Warnings.Count("is lost") + bench.Warnings.Count("Next try"), Is.Zero, $"{bench.Warnings}");
    }

    // As after an upgrade to RabbitMQ 4.0, which takes at most 16 MiB by default.
    [Test]
    public async Task A_message_that_was_allowed_earlier_and_fails_stays_in_its_queue_until_the_limit_is_raised()
    {
        var large = Guid.CreateVersion7();
        await LimitAsync(NoLimit);
        await bench.PublishAsync("work", RabbitMqBench.Properties(large), new byte[2 * Limit]);
        await LimitAsync(Limit);
        var handled = new TaskCompletionSource();
        using (var endpoint = bench.Build(TransactionMode.ScopeOff, (_, _) =>
        {
            handled.SetResult();
            return Task.CompletedTask;
        }))
        {
            await endpoint.StartAsync();
            await bench.PublishAsync("work", RabbitMqBench.Properties());
            await handled.Task.WaitAsync(Eventually.Limit);
            await endpoint.StopAsync();
        }

        Assert.That(bench.Warnings.Count("cannot be moved to another queue") == 1 && bench.Warnings.Count("Next try") == 0, Is.True, $"{bench.Warnings}");
        Assert.That(await bench.Queue.ReadMessagesAsync(CancellationToken.None), Is.EqualTo(new[] { large }));
        await LimitAsync(NoLimit);
        await bench.HandleAsync(TransactionMode.ScopeOff, (_, _) => Task.CompletedTask);
        Assert.That((await bench.Queue.ReadErrorsAsync(CancellationToken.None)).Single().MessageId, Is.EqualTo(large));
    }

    [TestCaseSource(typeof(RabbitMqBench), nameof(RabbitMqBench.Acknowledging))]
    public async Task A_failed_message_stays_while_its_retry_queue_is_full_and_the_others_are_handled(TransactionMode mode)
    {
        var failing = Guid.CreateVersion7();
        await FillAsync(isFull: true);
        await bench.PublishAsync("work", RabbitMqBench.Properties(failing));
        for (var sent = 0; sent < 10; sent++)
            await bench.PublishAsync("work", RabbitMqBench.Properties());
        var handled = 0;
        Work work = (context, _) =>
        {
            if (context.MessageId == failing)
                throw new InvalidOperationException("It fails.");
            handled++;
            return Task.CompletedTask;
        };
        using (var endpoint = bench.Build(mode, work))
        {
            await endpoint.StartAsync();
            await Eventually.HoldsAsync(() => handled == 10, $"the others are handled: {bench.Warnings}");
            await endpoint.StopAsync();
        }

        Assert.That(await bench.Queue.ReadMessagesAsync(CancellationToken.None), Is.EqualTo(new[] { failing }), $"{bench.Warnings}");
        await FillAsync(isFull: false);
        await bench.HandleAsync(mode, work);
        Assert.That((await bench.Queue.ReadErrorsAsync(CancellationToken.None)).Single().MessageId, Is.EqualTo(failing));
        Assert.That(handled, Is.EqualTo(10));
    }

    // Queues that have room for nothing, and say so.
    private Task FillAsync(bool isFull) =>
        bench.Host.SetPolicyAsync("_retry$", isFull ? """{"max-length": 0, "overflow": "reject-publish"}""" : """{"max-length": 1000}""");

    // The memory that the broker may use. Each call of its tool takes as long as a test.
    private async Task AlarmAsync(bool isOn)
    {
        if (isAlarmed != isOn)
            await broker.ControlAsync(["set_vm_memory_high_watermark", "absolute", isOn ? "1MB" : "2GB"], CancellationToken.None);
        isAlarmed = isOn;
    }

    /// <summary>Sets the largest body that channels from now on take, in bytes. It stays for the next test.</summary>
    private async Task LimitAsync(int bytes)
    {
        if (limit != bytes)
            await broker.ControlAsync(["eval", $"application:set_env(rabbit, max_message_size, {bytes})."], CancellationToken.None);
        limit = bytes;
    }
}
