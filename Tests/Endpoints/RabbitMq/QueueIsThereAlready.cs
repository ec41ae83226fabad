using System.Collections.Concurrent;
using Kit.Endpoints.Bare;
using Kit.Endpoints.Bare.RabbitMq;
using Kit.Modes;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;

namespace Kit.Tests.RabbitMq;

/// <summary>
/// A bare endpoint on a queue that somebody else created: it is used as it is, and what can lose messages is said in the log.
/// </summary>
[Parallelizable]
public sealed class QueueIsThereAlready
{
    private const int Starts = 5;

    private static readonly Dictionary<string, object?> Quorum = new() { ["x-queue-type"] = "quorum" };

    private readonly ConcurrentQueue<(LogLevel Level, string Text)> log = new();
    private TestDatabases databases = null!;
    private TestVirtualHost broker = null!;

    private static string Remedy =>
        """
        '{"delivery-limit":100000,"dead-letter-exchange":"","dead-letter-routing-key":"work_error",
        "dead-letter-strategy":"at-least-once","overflow":"reject-publish"}'
        """.ReplaceLineEndings("");

    private RabbitMqAddress Parsed => RabbitMqAddress.Parse(broker.Address);

    // Nobody listens on the port of the discard protocol.
    private string WithoutThePlugin => Parsed.Amqp + "?management=http://127.0.0.1:9";

    private IEnumerable<string> Warnings => log.Where(line => line.Level == LogLevel.Warning).Select(line => line.Text);

    [SetUp]
    public async Task SetUp()
    {
        log.Clear();
        databases = await TestDatabases.CreateAsync();
        broker = await TestVirtualHost.CreateAsync();
    }

    [TearDown]
    public async Task TearDown()
    {
        await broker.DisposeAsync();
        await databases.DisposeAsync();
    }

    [Test]
    public async Task A_delivery_limit_that_it_was_created_with_is_warned_of_and_left()
    {
        var low = new Dictionary<string, object?>(Quorum) { ["x-delivery-limit"] = 3 };
        await DeclareAsync("work", low);

        await StartAsync(QueueType.Quorum);

        Assert.That(Warnings.Where(text => text.Contains("'work'", StringComparison.Ordinal)), Is.EqualTo(new[]
        {
            "Queue 'work' has a delivery limit of 3, which also counts deliveries that were only prefetched. Expected: 100000. " +
            "The queue was created with it, and no policy raises it: empty and delete the queue, and the endpoint will create it again.",
            "Queue 'work' has no dead-letter exchange: the broker drops a message that it gives up. Expected: it goes to queue 'work_error'. " +
            $"Set a policy: rabbitmqctl set_policy -p '{Parsed.VirtualHost}' --apply-to queues 'work' '^work$' {Remedy}",
        }));
        // The broker takes a declaration that is the same.
        await DeclareAsync("work", low);
    }

    [Test]
    public async Task Without_a_limit_it_is_warned_of_what_RabbitMQ_4_does()
    {
        await DeclareAsync("work", Quorum);

        await StartAsync(QueueType.Quorum);

        Assert.That(Warnings, Has.One.Contain("'work'").And.Contain("RabbitMQ 4.0 and later then give a message up after 20 deliveries"));
    }

    [Test]
    public async Task The_policy_that_the_warning_names_is_what_it_wants()
    {
        await DeclareAsync("work", Quorum);
        await broker.SetPolicyAsync("^work$", Remedy.Trim('\''));

        await StartAsync(QueueType.Quorum);

        Assert.That(Warnings, Is.Empty);
    }

    [Test]
    public async Task Dead_letters_that_the_broker_can_lose_are_warned_of()
    {
        var atMostOnce = new Dictionary<string, object?>(Quorum)
        {
            ["x-delivery-limit"] = 100_000,
            ["x-dead-letter-exchange"] = "",
            ["x-dead-letter-routing-key"] = "work_error",
        };
        await DeclareAsync("work", atMostOnce);

        await StartAsync(QueueType.Quorum);

        Assert.That(Warnings, Has.One.Items.And.One.Contain("dead-letters at most once"));
    }

    [Test]
    public async Task What_drops_messages_of_a_classic_queue_is_warned_of()
    {
        await DeclareAsync("work", new() { ["x-message-ttl"] = 60_000, ["x-max-length"] = 1000 });
        await broker.SetPolicyAsync("^work_error$", """{"message-ttl": 5000}""");
        await DeclareAsync("work_error", []);

        await StartAsync(QueueType.Classic);

        Assert.That(Warnings, Has.Exactly(3).Items
            .And.One.Contain("Queue 'work' drops messages that are older than 60000 ms")
            .And.One.Contain("Queue 'work' holds at most 1000 messages, and drops the oldest message when it is full")
            .And.One.Contain("Queue 'work_error' drops messages that are older than 5000 ms. " +
                "Expected: no message-ttl. Remove message-ttl from its policy 'test'."));
    }

    [Test]
    public async Task What_a_policy_drops_from_a_queue_that_the_endpoint_creates_is_warned_of()
    {
        await broker.SetPolicyAsync("^work_error$", """{"message-ttl": 5000}""");

        await StartAsync(QueueType.Classic);

        Assert.That(Warnings, Has.One.Items.And.One.Contain("Queue 'work_error' drops messages that are older than 5000 ms."));
    }

    [Test]
    public async Task Queues_that_the_endpoint_created_are_not_warned_of([Values] QueueType type)
    {
        await StartAsync(type);
        await StartAsync(type);

        Assert.That(Warnings, Is.Empty);
    }

    [Test]
    public async Task Without_the_management_plugin_it_says_that_it_could_not_look()
    {
        await DeclareAsync("work", new(Quorum) { ["x-delivery-limit"] = 3 });

        await StartAsync(QueueType.Quorum, WithoutThePlugin);

        Assert.That(Warnings, Has.One.Contain("The delivery limit of the existing queue 'work' could not be checked")
            .And.One.Contain("management plugin at http://127.0.0.1:9"));
    }

    [Test]
    public async Task Without_the_management_plugin_another_type_is_refused_all_the_same()
    {
        await DeclareAsync("work", Quorum);

        Assert.That(
            () => StartAsync(QueueType.Classic, WithoutThePlugin),
            Throws.TypeOf<BrokerException>().With.Message.Contain("already exists, and not as a durable classic queue"));
    }

    [Test]
    public async Task It_is_refused_even_if_the_broker_names_another_argument_first([Values("quorum", "stream")] string type)
    {
        await DeclareAsync("work", type == "stream"
            ? new() { ["x-queue-type"] = type, ["x-max-length-bytes"] = 1_000_000_000 }
            : QueueArguments.Of(QueueType.Quorum, "work_error").ToDictionary());

        Assert.That(
            () => StartAsync(QueueType.Classic, WithoutThePlugin),
            Throws.TypeOf<BrokerException>().With.Message.Contain("already exists, and not as a durable classic queue"));
    }

    /// <summary>Its consumer is cancelled, and the endpoint connects again.</summary>
    [Test]
    public async Task One_that_takes_its_place_while_the_endpoint_runs_is_refused_too()
    {
        using var running = Build(QueueType.Classic, broker.Address, pauseAfterOutage: TimeSpan.FromSeconds(2));
        await running.StartAsync();

        await using (var connection = await Broker.ConnectAsync(Parsed, "somebody", CancellationToken.None))
        {
            await using var channel = await connection.CreateChannelAsync();
            await channel.QueueDeleteAsync("work", ifUnused: false, ifEmpty: false);
            await channel.QueueDeclareAsync("work", durable: true, exclusive: false, autoDelete: false, Quorum);
        }

        await Eventually.HoldsAsync(
            () => Task.FromResult(Warnings.Any(text => text.Contains("already exists, and not as a durable classic queue", StringComparison.Ordinal))),
            "it says that it does not use the queue");
        await running.StopAsync();
    }

    [Test]
    public async Task Without_the_management_plugin_other_arguments_are_left()
    {
        await DeclareAsync("work", new() { ["x-message-ttl"] = 60_000, ["x-max-priority"] = 4, ["x-dead-letter-exchange"] = "" });

        await StartAsync(QueueType.Classic, WithoutThePlugin);

        Assert.That(log.Select(line => line.Text), Has.One.Contain("The policy of the existing queue 'work' could not be checked"));
    }

    private async Task DeclareAsync(string queue, Dictionary<string, object?> arguments)
    {
        await using var connection = await Broker.ConnectAsync(Parsed, "somebody", CancellationToken.None);
        await using var channel = await connection.CreateChannelAsync();
        await channel.QueueDeclareAsync(queue, durable: true, exclusive: false, autoDelete: false, arguments);
    }

    /// <summary>Starts an endpoint, and stops it. Where the broker of a busy machine did not answer its questions in time, again.</summary>
    private async Task StartAsync(QueueType type, string? address = null)
    {
        var before = log.ToArray();
        for (var (isAnswered, start) = (false, 1); !isAnswered && start <= Starts; start++)
        {
            log.Clear();
            foreach (var line in before)
                log.Enqueue(line);
            await StartOnceAsync(type, address ?? broker.Address);
            isAnswered = !Warnings.Any(text => text.Contains("does not answer within", StringComparison.Ordinal));
        }
    }

    private async Task StartOnceAsync(QueueType type, string address)
    {
        using var built = Build(type, address);
        await built.StartAsync();
        await built.StopAsync();
    }

    private IHost Build(QueueType type, string address, TimeSpan? pauseAfterOutage = null)
    {
        var host = Host.CreateEmptyApplicationBuilder(settings: null);
        host.Logging.AddProvider(new LogInto(log));
        host.Services.AddBareEndpoint("work", endpoint => endpoint
            .UseRabbitMq(address, databases.Widgets, type)
            .UseTransactionMode(TransactionMode.ScopeOff)
            .PauseAfterOutage(pauseAfterOutage ?? TimeSpan.FromSeconds(1))
            .Handle<string, Never>());
        return host.Build();
    }

    private sealed class Never : IMessageHandler<string>
    {
        public Task HandleAsync(string message, MessageContext context, CancellationToken cancellationToken) =>
            throw new InvalidOperationException("No message was sent.");
    }

    private sealed class LogInto(ConcurrentQueue<(LogLevel, string)> lines) : ILoggerProvider, ILogger
    {
        public ILogger CreateLogger(string categoryName) => this;

        public IDisposable? BeginScope<TState>(TState state)
            where TState : notnull => null;

        public bool IsEnabled(LogLevel logLevel) => true;

        public void Log<TState>(
            LogLevel logLevel, EventId eventId, TState state, Exception? exception, Func<TState, Exception?, string> formatter) =>
            lines.Enqueue((logLevel, formatter(state, exception)));

        public void Dispose()
        {
        }
    }
}
