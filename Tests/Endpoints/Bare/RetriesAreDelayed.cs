using System.Diagnostics;
using Kit.Endpoints.Bare;
using Kit.Endpoints.Bare.RabbitMq;
using Kit.Endpoints.Cells;
using Kit.Modes;

namespace Kit.Tests.Bare;

/// <summary>A handler fails, and the endpoint was told how long to wait for the next attempt.</summary>
[Parallelizable]
public sealed class RetriesAreDelayed
{
    private static readonly TimeSpan First = TimeSpan.FromMilliseconds(300);
    private static readonly TimeSpan Later = TimeSpan.FromMilliseconds(600);

    // Long enough for another message to be handled meanwhile, also by a worker that pauses.
    private static readonly TimeSpan Long = TimeSpan.FromSeconds(4);

    /// <summary>Servers and .NET tell the time in steps, and not in the same ones.</summary>
    private static readonly TimeSpan OneTick = TimeSpan.FromMilliseconds(20);

    private BareBench bench = null!;

    private static IEnumerable<TestCaseData> Cases =>
    [
        .. BareBench.Modes.Where(mode => mode.Attempts > 1).Select(mode => new TestCaseData("postgresql", mode)),
        .. TransactionMode.All.Where(mode => RabbitMqSupport.Of(mode).IsSupported && mode.Attempts > 1)
            .Select(mode => new TestCaseData("rabbitmq", mode)).Select(OnDemandUnlessDtcOff),
    ];

    // On RabbitMQ the delay is a queue of the endpoint's, in each mode the same.
    private static TestCaseData OnDemandUnlessDtcOff(TestCaseData data) =>
        data.Arguments[1] is TransactionMode mode && mode == TransactionMode.DtcOff ? data : data.SetCategory(ExhaustiveAttribute.Category);

    [SetUp]
    public async Task SetUp() => bench = await BareBench.CreateAsync();

    [TearDown]
    public async Task TearDown() => await bench.DisposeAsync();

    [ModeSource(nameof(Cases))]
    public async Task Each_attempt_waits(string transport, TransactionMode mode)
    {
        var starts = new List<long>();

        await HandleAsync(
            transport,
            mode,
            (_, _) =>
            {
                starts.Add(Stopwatch.GetTimestamp());
                throw new InvalidOperationException("not yet");
            },
            endpoint => endpoint.DelayRetries(First, Later),
            [Guid.CreateVersion7()],
            async queue => (await queue.ReadErrorsAsync(CancellationToken.None)).Count == 1);

        Assert.That(starts, Has.Count.EqualTo(mode.Attempts));
        Assert.That(Stopwatch.GetElapsedTime(starts[0], starts[1]), Is.GreaterThanOrEqualTo(First - OneTick));
        Assert.That(Stopwatch.GetElapsedTime(starts[1], starts[2]), Is.GreaterThanOrEqualTo(Later - OneTick));
    }

    /// <summary>One mode that counts with the receive, one that counts late, and the broker.</summary>
    [TestCase("postgresql", "dtc-off")]
    [TestCase("postgresql", "shared")]
    [TestCase("rabbitmq", "dtc-off")]
    public async Task Other_messages_do_not_wait(string transport, string name)
    {
        var (failing, other) = (Guid.CreateVersion7(), Guid.CreateVersion7());
        var starts = new List<long>();
        long othersStart = 0;

        await HandleAsync(
            transport,
            TransactionMode.Parse(name),
            (context, _) =>
            {
                if (context.MessageId == other)
                {
                    othersStart = Stopwatch.GetTimestamp();
                    return Task.CompletedTask;
                }

                starts.Add(Stopwatch.GetTimestamp());
                return starts.Count > 1 ? Task.CompletedTask : throw new InvalidOperationException("not yet");
            },
            endpoint => endpoint.DelayRetries(Long),
            [failing, other],
            _ => Task.FromResult(starts.Count == 2));

        Assert.That(othersStart, Is.Positive.And.LessThan(starts[1]), "another message is handled meanwhile");
    }

    /// <summary>Lets an endpoint handle messages in their order, until something holds.</summary>
    private async Task HandleAsync(
        string transport, TransactionMode mode, Work work, Action<BareEndpointBuilder> configure, Guid[] messages, Func<IMessageQueue, Task<bool>> holds)
    {
        if (TestTransport.MissingServer(transport) is { } missing)
            Assert.Ignore(missing);
        await using var broker = transport == TransportName.RabbitMq ? await TestVirtualHost.CreateAsync() : null;
        await using var queue = broker is null
            ? bench.QueueOf(mode)
            : (IMessageQueue)new RabbitMqQueue(RabbitMqAddress.Parse(broker.Address), "work");
        await queue.CreateAsync(CancellationToken.None);
        await queue.EnqueueAsync(messages.Select(id => OutgoingMessage.Create("work", new BareBench.Todo(), id)), CancellationToken.None);
        using var host = bench.Build(
            mode,
            work,
            configure: endpoint =>
            {
                // In a mode that counts late, another worker can have the message before it is put back.
                // Delays of its own may be longer than the pause after any outage.
                endpoint.PauseAfterOutage(TimeSpan.FromMilliseconds(5)).LimitConcurrency(mode.CountsAfterRollback ? 1 : 2);
                configure(endpoint);
                if (broker is not null)
                    endpoint.UseRabbitMq(broker.Address, bench.Databases.Widgets);
            });
        await host.StartAsync();
        await Eventually.HoldsAsync(() => holds(queue), "the last attempt comes");
        await host.StopAsync();
    }

    [Test]
    public async Task In_a_mode_without_retries_they_are_refused() => Assert.That(
        await RefusalOfAsync(TransactionMode.TransactionsOff, endpoint => endpoint.DelayRetries(First)),
        Does.Contain("cannot delay retries").And.Contain("it has none"));

    [Test]
    public async Task Longer_ones_than_a_worker_of_RabbitMQ_waits_are_refused() => Assert.That(
        await RefusalOfAsync(
            TransactionMode.DtcOff,
            endpoint => endpoint.DelayRetries(TimeSpan.FromSeconds(61)).UseRabbitMq("amqp://127.0.0.1:9", bench.Databases.Widgets)),
        Does.Contain("cannot delay a retry for 61 s").And.Contain("at most 60 s"));

    [TestCase(-1)]
    [TestCase(86_401)]
    public void What_is_no_delay_is_refused(int seconds) => Assert.That(
        () => bench.Build(TransactionMode.DtcOff, (_, _) => Task.CompletedTask, configure: endpoint => endpoint.DelayRetries(TimeSpan.FromSeconds(seconds))),
        Throws.TypeOf<ArgumentOutOfRangeException>());

    private async Task<string> RefusalOfAsync(TransactionMode mode, Action<BareEndpointBuilder> configure)
    {
        using var host = bench.Build(mode, (_, _) => Task.CompletedTask, configure: configure);
        return (await Assert.ThrowsAsync<NotSupportedException>(() => host.StartAsync()))!.Message;
    }
}
