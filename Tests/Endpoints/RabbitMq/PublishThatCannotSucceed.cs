using Kit.Endpoints.Bare;
using Kit.Endpoints.Bare.RabbitMq;
using Kit.Modes;
using Microsoft.Extensions.DependencyInjection;

namespace Kit.Tests.RabbitMq;

/// <summary>What the broker refuses each time, with the end of the channel or of the connection, fails one message and disturbs no other.</summary>
[Parallelizable]
public sealed class PublishThatCannotSucceed
{
    // The broker closes the channel with 406, as it does for a message that is too large: nobody consumes this pseudo-queue.
    private static readonly Dictionary<string, string> Refused = new() { [OutgoingMessage.ReplyToHeader] = "amq.rabbitmq.reply-to" };

    private RabbitMqBench bench = null!;

    [SetUp]
    public async Task SetUp()
    {
        bench = await RabbitMqBench.CreateAsync();
        await bench.CreateQueueAsync("built");
    }

    [TearDown]
    public async Task TearDown() => await bench.DisposeAsync();

    [TestCaseSource(typeof(RabbitMqBench), nameof(RabbitMqBench.Modes))]
    public async Task A_refused_send_fails_its_message_and_every_other_one_is_sent(TransactionMode mode)
    {
        var bad = Guid.CreateVersion7();
        var good = Enumerable.Range(0, 20).Select(_ => Guid.CreateVersion7()).ToList();
        foreach (var id in good.Prepend(bad))
            await bench.PublishAsync("work", RabbitMqBench.Properties(id));

        await bench.HandleAsync(mode, (context, cancellationToken) => context.SendAsync(
            "built", "a widget", context.MessageId, context.MessageId == bad ? Refused : null, cancellationToken));

        Assert.That(await bench.CountAsync("built"), Is.EqualTo(good.Count));
        var errors = await bench.Queue.ReadErrorsAsync(CancellationToken.None);
        if (mode == TransactionMode.Outbox)
        {
            Assert.That(errors, Is.Empty, "it is handled, and its send waits");
            Assert.That(await TestDatabases.ScalarAsync(bench.Widgets, "SELECT count(*)::int FROM work_outbox"), Is.EqualTo(1));
        }
        else
        {
            Assert.That(errors.Single(), Has.Property("MessageId").EqualTo(bad).And.Property("FailedAttempts").EqualTo(mode.Attempts));
            Assert.That(errors.Single().Reason, Does.Contain("The broker refused a message for queue 'built': PRECONDITION_FAILED"));
        }

        Assert.That(bench.Warnings.Count("Next try"), Is.Zero, $"the session was lost: {bench.Warnings}");
        Assert.That(bench.Warnings.Count("is lost"), Is.Zero, $"{bench.Warnings}");
    }

    // One frame holds them, and does not hold the reason as well. The broker would close the connection.
    [TestCaseSource(typeof(RabbitMqBench), nameof(RabbitMqBench.Modes))]
    public async Task Headers_that_leave_no_room_for_the_reason_are_left_out_of_the_dead_letter(TransactionMode mode)
    {
        var large = RabbitMqBench.Properties();
        large.Headers = new Dictionary<string, object?> { ["large"] = new string('x', 130_900) };
        await bench.PublishAsync("work", large);
        await bench.PublishAsync("work", RabbitMqBench.Properties());

        await bench.HandleAsync(mode, (context, _) =>
            context.Headers.ContainsKey("large") ? throw new InvalidOperationException("no stock") : Task.CompletedTask);

        var error = (await bench.Queue.ReadErrorsAsync(CancellationToken.None)).Single();
        Assert.That(error, Has.Property("MessageId").EqualTo(Guid.Parse(large.MessageId!)).And.Property("Type").EqualTo(large.Type));
        Assert.That(error.Reason, Does.Contain("no stock").And.Contain("headers"));
        Assert.That(bench.Warnings.Count("Next try"), Is.Zero, $"the session was lost: {bench.Warnings}");
    }

    // It was prefetched at a stop, for example.
    [TestCaseSource(typeof(RabbitMqBench), nameof(RabbitMqBench.Acknowledging))]
    public async Task A_redelivered_message_that_the_broker_does_not_take_again_is_handled_where_it_is(TransactionMode mode)
    {
        var large = RabbitMqBench.Properties();
        large.Headers = new Dictionary<string, object?> { ["large"] = new string('x', 130_900) };
        await bench.PublishAsync("work", large);
        Assert.That(await bench.OnChannelAsync(channel => channel.BasicGetAsync("work", autoAck: false)), Is.Not.Null);
        var attempts = new List<int>();

        await bench.HandleAsync(mode, (context, _) =>
        {
            attempts.Add(context.Attempt);
            return Task.CompletedTask;
        });

        Assert.That(attempts, Is.EqualTo(new[] { 1 }), $"{bench.Warnings}");
        Assert.That(await bench.Queue.ReadErrorsAsync(CancellationToken.None), Is.Empty);
        Assert.That(bench.Warnings.Lines, Has.One.Items.And.One.Contain("It is handled where it is."));
    }

    // A name of 255 bytes that are not UTF-8 is three times as long when it is written again.
    [Test]
    public async Task A_name_that_the_driver_cannot_write_again_is_left_out_of_the_dead_letter()
    {
        var foreign = RabbitMqBench.Properties();
        foreign.CorrelationId = new string('ü', 100);
        await bench.PublishAsync("work", foreign);

        await bench.HandleAsync(TransactionMode.ScopeOff, (_, _) => throw new InvalidOperationException("no stock"));

        Assert.That((await bench.Queue.ReadErrorsAsync(CancellationToken.None)).Single().Reason, Does.Contain("no stock"));
    }

    // More than the driver takes by default, and less than the broker takes.
    [Test]
    public async Task A_body_of_70_MiB_is_handled()
    {
        await bench.PublishAsync("work", RabbitMqBench.Properties(), Large(70));
        await bench.PublishAsync("work", RabbitMqBench.Properties());
        var handled = 0;

        await bench.HandleAsync(TransactionMode.ScopeOff, (_, _) =>
        {
            handled++;
            return Task.CompletedTask;
        });

        Assert.That(handled, Is.EqualTo(2));
        Assert.That(bench.Warnings.Lines, Is.Empty);
    }

    [Test]
    public async Task A_sender_outside_of_a_handler_is_told_and_can_send_the_next_message()
    {
        await using var provider = new ServiceCollection().AddRabbitMqMessageSender(bench.Address.Text).BuildServiceProvider();
        var sender = provider.GetRequiredService<IMessageSender>();

        var refusal = await Assert.ThrowsAsync<BrokerException>(() => sender.SendAsync("built", "a widget", headers: Refused));
        await sender.SendAsync("built", "a widget");

        Assert.That(refusal!.Message, Does.StartWith("The broker refused a message for queue 'built': PRECONDITION_FAILED"));
        Assert.That(await bench.CountAsync("built"), Is.EqualTo(1));
    }

    [Test]
    public async Task One_that_is_put_into_the_queue_by_hand_is_told_and_the_next_is_put_there()
    {
        var refused = OutgoingMessage.Create("work", "any") with { Headers = Refused };

        var refusal = await Assert.ThrowsAsync<BrokerException>(() => bench.Queue.EnqueueAsync([refused], CancellationToken.None));
        await bench.Queue.EnqueueAsync([OutgoingMessage.Create("work", "any")], CancellationToken.None);

        Assert.That(refusal!.Message, Does.Contain("PRECONDITION_FAILED"));
        Assert.That(await bench.CountAsync("work"), Is.EqualTo(1));
    }

    private static byte[] Large(int megabytes)
    {
        var body = new byte[megabytes << 20];
        body.AsSpan().Fill((byte)' ');
        (body[0], body[^1]) = ((byte)'{', (byte)'}');
        return body;
    }
}
