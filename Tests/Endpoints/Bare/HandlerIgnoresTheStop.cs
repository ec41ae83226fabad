using System.Diagnostics;
using Kit.Endpoints.Bare;
using Kit.Modes;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;

namespace Kit.Tests.Bare;

/// <summary>The host no longer waits, and a handler goes on.</summary>
[Parallelizable]
public sealed class HandlerIgnoresTheStop
{
    private static readonly Guid MessageId = Guid.CreateVersion7();

    private BareBench bench = null!;

    private static IEnumerable<TestCaseData> Cases =>
    [
        .. BareBench.Modes.Select(mode => new TestCaseData(mode, 1)),
        new(TransactionMode.Shared, 2),
        new(TransactionMode.DtcOff, 2),
    ];

    [SetUp]
    public async Task SetUp() => bench = await BareBench.CreateAsync();

    [TearDown]
    public async Task TearDown() => await bench.DisposeAsync();

    [ModeSource(nameof(Cases))]
    public async Task The_endpoint_names_its_message_and_lets_the_host_stop_and_nothing_of_it_commits_later(TransactionMode mode, int batch)
    {
        var (inHandler, hostHasStopped, returned) = (new TaskCompletionSource(), new TaskCompletionSource(), new TaskCompletionSource());
        var queue = bench.QueueOf(mode);
        await queue.EnqueueAsync([OutgoingMessage.Create("work", new BareBench.Todo(), MessageId)], CancellationToken.None);
        using var warnings = new WarningsOfAHost();
        using (var host = bench.Build(
            mode,
            async (context, cancellationToken) =>
            {
                await BareBench.InsertWidgetAsync(context, cancellationToken);
                inHandler.SetResult();
                await hostHasStopped.Task;
                returned.SetResult();
            },
            configure: endpoint => endpoint.ReceiveInBatches(batch).StopPatience = TimeSpan.FromMilliseconds(300),
            services: services => services.AddLogging(log => log.AddProvider(warnings))))
        {
            await host.StartAsync();
            await inHandler.Task.WaitAsync(Eventually.Limit);

            using var patience = new CancellationTokenSource(TimeSpan.FromMilliseconds(200));
            var watch = Stopwatch.StartNew();
            var stopping = host.StopAsync(patience.Token);
            if (await Task.WhenAny(stopping, Task.Delay(TimeSpan.FromMinutes(1))) != stopping)
                hostHasStopped.SetResult();
            await stopping;
            Assert.That(watch.Elapsed, Is.LessThan(TimeSpan.FromMinutes(1)));
        }

        Assert.That(warnings.Count($"{MessageId} ({typeof(BareBench.Todo).FullName})"), Is.EqualTo(1), warnings.ToString());

        // As in a process that does not end.
        hostHasStopped.SetResult();
        await returned.Task;
        var isBack = mode != TransactionMode.TransactionsOff;
        Assert.That(await queue.CountAsync(CancellationToken.None), Is.EqualTo(isBack ? 1 : 0));

        var attempts = 0;
        using (var next = bench.Build(mode, async (context, cancellationToken) =>
        {
            attempts = context.Attempt;
            await BareBench.InsertWidgetAsync(context, cancellationToken);
        }))
        {
            await next.StartAsync();
            await Eventually.HoldsAsync(async () => await queue.CountAsync(CancellationToken.None) == 0, "the queue is empty");
            await next.StopAsync();
        }

        Assert.That(attempts, Is.EqualTo(isBack ? 1 : 0), "it is received again, and no attempt was counted");
        var hasAutocommitted = mode == TransactionMode.ScopeOff;
        Assert.That(await bench.Databases.CountRowsAsync(), Is.EqualTo(hasAutocommitted ? 2 : 1), "nothing of the first handling has committed later");
        Assert.That(await queue.ReadErrorsAsync(CancellationToken.None), Is.Empty);
        Assert.That(await bench.Databases.CountPreparedAsync(), Is.Zero);
    }

    /// <summary>One that listens to its token is waited for: it has time to end.</summary>
    [ModeSource(typeof(BareBench), nameof(BareBench.Modes))]
    public async Task One_that_listens_is_waited_for_and_not_named(TransactionMode mode)
    {
        var inHandler = new TaskCompletionSource();
        await bench.QueueOf(mode).EnqueueAsync([OutgoingMessage.Create("work", new BareBench.Todo(), MessageId)], CancellationToken.None);
        using var warnings = new WarningsOfAHost();
        using var host = bench.Build(
            mode,
            async (_, cancellationToken) =>
            {
                inHandler.SetResult();
                await Task.Delay(Timeout.Infinite, cancellationToken);
            },
            // However long the machine keeps a handler from ending that was told to.
            configure: endpoint => endpoint.StopPatience = TimeSpan.FromMinutes(1),
            services: services => services.AddLogging(log => log.AddProvider(warnings)));
        await host.StartAsync();
        await inHandler.Task.WaitAsync(Eventually.Limit);

        using var patience = new CancellationTokenSource(TimeSpan.FromMilliseconds(100));
        await host.StopAsync(patience.Token);

        Assert.That(warnings.Count("is left in its handler"), Is.Zero, warnings.ToString());
        var isBack = mode != TransactionMode.TransactionsOff;
        Assert.That(await bench.QueueOf(mode).CountAsync(CancellationToken.None), Is.EqualTo(isBack ? 1 : 0));
        Assert.That(await bench.QueueOf(mode).ReadErrorsAsync(CancellationToken.None), Has.Count.EqualTo(isBack ? 0 : 1), "given up, and not lost");
    }
}
