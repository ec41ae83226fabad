using Kit.Endpoints.Bare;
using Kit.Modes;
using RabbitMQ.Client;

namespace Kit.Tests.RabbitMq;

/// <summary>
/// Properties and headers that tell the broker what to do with one publish: another sender of the queue set them, without the kit. They are no part of the
/// message, and a copy of it that carried them would be refused, deleted or multiplied.
/// </summary>
[Parallelizable]
public sealed class InstructionsToTheBroker
{
    private const string Copies = "copies";

    private readonly string stranger = $"stranger-{Guid.NewGuid():N}";
    private RabbitMqBench bench = null!;

    private BasicProperties Instructing => new(RabbitMqBench.Properties())
    {
        UserId = stranger,
        Expiration = "3600000",
        Priority = 3,
        CorrelationId = "order 7",
        AppId = "shop",
        Headers = new Dictionary<string, object?>
        {
            ["CC"] = new List<object?> { Copies },
            ["x-delay"] = 60_000,
            ["x-death"] = new List<object?> { new Dictionary<string, object?> { ["queue"] = "elsewhere", ["reason"] = "expired", ["count"] = 1L } },
            ["x-first-death-queue"] = "elsewhere",
            ["tenant"] = "7",
        },
    };

    [SetUp]
    public async Task SetUp()
    {
        bench = await RabbitMqBench.CreateAsync();
        await bench.CreateQueueAsync(Copies);
    }

    [TearDown]
    public async Task TearDown() => await bench.DisposeAsync();

    [TestCaseSource(typeof(RabbitMqBench), nameof(RabbitMqBench.Modes))]
    public async Task A_message_that_fails_ends_in_the_error_queue_without_them_and_others_are_handled(TransactionMode mode)
    {
        var good = Guid.CreateVersion7();
        await bench.PublishAsync("work", Instructing, user: stranger);
        await bench.PublishAsync("work", RabbitMqBench.Properties(good));
        var handled = new List<Guid>();

        await bench.HandleAsync(mode, (context, _) =>
        {
            if (context.Headers.ContainsKey("tenant"))
                throw new InvalidOperationException("no stock");

            handled.Add(context.MessageId);
            return Task.CompletedTask;
        });

        Assert.That(handled, Is.EqualTo(new[] { good }));
        var error = (await bench.Queue.ReadErrorsAsync(CancellationToken.None)).Single();
        Assert.That(error, Has.Property("FailedAttempts").EqualTo(mode.Attempts).And.Property("Reason").Contains("no stock"));
        RequireNoInstruction((await bench.Queue.ReadErrorPropertiesAsync(CancellationToken.None)).Single());
        Assert.That(await bench.CountAsync(Copies), Is.EqualTo(1), "copies, of which the sender asked for one");
        Assert.That(bench.Warnings.Count("Next try"), Is.Zero, $"the connection was lost: {bench.Warnings}");
    }

    [TestCaseSource(typeof(RabbitMqBench), nameof(RabbitMqBench.Acknowledging))]
    public async Task A_message_that_is_only_redelivered_is_handled(TransactionMode mode)
    {
        await bench.PublishAsync("work", Instructing, user: stranger);
        // Taken and not acknowledged.
        Assert.That(await bench.OnChannelAsync(channel => channel.BasicGetAsync("work", autoAck: false)), Is.Not.Null);
        var handled = 0;

        await bench.HandleAsync(mode, (_, _) =>
        {
            handled++;
            return Task.CompletedTask;
        });

        Assert.That(handled, Is.EqualTo(1));
        Assert.That(await bench.CountAsync(Copies), Is.EqualTo(1));
        Assert.That(bench.Warnings.Lines, Is.Empty);
    }

    [Test]
    public async Task A_dead_letter_goes_back_without_them()
    {
        await bench.PublishAsync("work_error", Instructing, user: stranger);

        Assert.That(await bench.Queue.ReturnErrorsAsync(messageIds: null, CancellationToken.None), Has.Count.EqualTo(1));

        RequireNoInstruction((await bench.OnChannelAsync(channel => channel.BasicGetAsync("work", autoAck: true)))!.BasicProperties);
        Assert.That(await bench.CountAsync(Copies), Is.EqualTo(1));
    }

    [TestCase("x-delay")]
    [TestCase("x-delivery-count")]
    public void A_sender_is_told_that_the_kit_does_not_pass_them_on(string header) => Assert.That(
        () => OutgoingMessage.Create("any", "text") with { Headers = new Dictionary<string, string> { [header] = "1" } },
        Throws.ArgumentException.With.Message.Contains($"A header cannot be named '{header}'"));

    private static void RequireNoInstruction(IReadOnlyBasicProperties properties)
    {
        Assert.That(properties, Has.Property("UserId").Null.And.Property("Expiration").Null);
        Assert.That(
            properties.Headers!.Keys.Where(name => !name.StartsWith("kit-", StringComparison.Ordinal) && name != "x-dotnet-pub-seq-no"),
            Is.EqualTo(new[] { "tenant" }));
        Assert.That(properties, Has.Property("CorrelationId").EqualTo("order 7").And.Property("AppId").EqualTo("shop").And.Property("Priority").EqualTo(3));
    }
}
