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
    // Long enough for another message to be handled meanwhile, also by a worker that pauses.
    private static readonly TimeSpan First = TimeSpan.FromSeconds(4);
    private static readonly TimeSpan Later = TimeSpan.FromMilliseconds(4_300);

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
    public async Task Each_attempt_waits_and_other_messages_do_not(string transport, TransactionMode mode)
    {
        if (TestTransport.MissingServer(transport) is { } missing)
            Assert.Ignore(missing);
        await using var broker = transport == TransportName.RabbitMq ? await TestVirtualHost.CreateAsync() : null;
        await using var queue = broker is null
            ? bench.QueueOf(mode)
            : (IMessageQueue)new RabbitMqQueue(RabbitMqAddress.Parse(broker.Address), "work");
        await queue.CreateAsync(CancellationToken.None);
        var (failing, other) = (Guid.CreateVersion7(), Guid.CreateVersion7());
        await queue.EnqueueAsync(
            new[] { failing, other }.Select(id => OutgoingMessage.Create("work", new BareBench.Todo(), id)), CancellationToken.None);
        var starts = new List<long>();
        long othersStart = 0;
        using var host = bench.Build(
            mode,
            (context, _) =>
            {
                if (context.MessageId == other)
                {
                    othersStart = Stopwatch.GetTimestamp();
                    return Task.CompletedTask;
                }

                starts.Add(Stopwatch.GetTimestamp());
                throw new InvalidOperationException("not yet");
            },
            configure: endpoint =>
            {
                // In a mode that counts late, another worker can have the message before it is put back.
                // Delays of its own may be longer than the pause after any outage.
                endpoint.DelayRetries(First, Later).PauseAfterOutage(TimeSpan.FromMilliseconds(5)).LimitConcurrency(mode.CountsAfterRollback ? 1 : 2);
                if (broker is not null)
                    endpoint.UseRabbitMq(broker.Address, bench.Databases.Widgets);
            });
        await host.StartAsync();
        await Eventually.HoldsAsync(async () => (await queue.ReadErrorsAsync(CancellationToken.None)).Count == 1, "the message is given up");
        await host.StopAsync();

        Assert.That(starts, Has.Count.EqualTo(mode.Attempts));
        Assert.That(Stopwatch.GetElapsedTime(starts[0], starts[1]), Is.GreaterThanOrEqualTo(First - OneTick));
        Assert.That(Stopwatch.GetElapsedTime(starts[1], starts[2]), Is.GreaterThanOrEqualTo(Later - OneTick));
        Assert.That(othersStart, Is.Positive.And.LessThan(starts[1]), "another message is handled meanwhile");
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
