using System.Data.Common;
using Kit.Endpoints.Bare;
using Kit.Modes;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;

namespace Kit.Tests.Bare;

/// <summary>The handlers' database lets nobody in for a while: too many connections, starting up, shutting down.</summary>
[Parallelizable]
public sealed class ServerRefusesTheHandler
{
    private const int Messages = 5;
    private BareBench bench = null!;

    /// <summary>Those in which the handler has a connection of its own.</summary>
    private static IEnumerable<TransactionMode> OwnConnectionModes => BareBench.Modes.Where(mode => !mode.NeedsOneDatabase);

    /// <summary>Those of them in which the handler is what meets the refusal, and a message can go back.</summary>
    private static IEnumerable<TransactionMode> SwallowingModes =>
        OwnConnectionModes.Where(mode => mode.CommitOrder.IsMessageLeftInHandler && !HasWorkOfItsOwn(mode));

    [SetUp]
    public async Task SetUp() => bench = await BareBench.CreateAsync();

    [TearDown]
    public async Task TearDown() => await bench.DisposeAsync();

    [ModeSource(nameof(OwnConnectionModes))]
    public async Task No_attempt_is_counted_and_every_message_is_handled_when_it_is_back(TransactionMode mode)
    {
        var attempts = new List<int>();
        using var log = new WarningsOfAHost();
        // Without a pool: a connection that was open before the outage is a lost session, and counts.
        using var host = bench.Build(
            mode,
            async (context, cancellationToken) =>
            {
                await context.GetConnectionAsync(cancellationToken);
                lock (attempts)
                    attempts.Add(context.Attempt);
            },
            bench.Databases.Widgets + ";Pooling=false",
            services: services => services.AddSingleton<ILoggerProvider>(log));
        await host.StartAsync();
        await bench.Databases.AllowConnectionsToWidgetsAsync(false);
        var queue = bench.QueueOf(mode);
        await queue.EnqueueAsync(Enumerable.Range(0, Messages).Select(_ => OutgoingMessage.Create("work", new BareBench.Todo())), CancellationToken.None);
        // The pause of a worker: whatever else meets the refusal, pauses for longer.
        await Eventually.HoldsAsync(() => log.Count("Next try in 0.1 s.") > 0, "a worker has met the refusal");
        await bench.Databases.AllowConnectionsToWidgetsAsync(true);
        await Eventually.HoldsAsync(() => { lock (attempts) return attempts.Count == Messages; }, "all are handled");
        await host.StopAsync();

        Assert.That(attempts, Is.All.EqualTo(1));
        Assert.That(await queue.ReadErrorsAsync(CancellationToken.None), Is.Empty);
        Assert.That(await queue.CountAsync(CancellationToken.None), Is.Zero);
    }

    [ModeSource(nameof(SwallowingModes))]
    public async Task A_refusal_that_the_handler_swallows_is_one_all_the_same(TransactionMode mode)
    {
        var swallowed = 0;
        using var host = bench.Build(
            mode,
            async (context, cancellationToken) =>
            {
                try
                {
                    await BareBench.InsertWidgetAsync(context, cancellationToken);
                }
                catch (DbException)
                {
                    Interlocked.Increment(ref swallowed);
                }
            },
            bench.Databases.Widgets + ";Pooling=false");
        await host.StartAsync();
        await bench.Databases.AllowConnectionsToWidgetsAsync(false);
        var queue = bench.QueueOf(mode);
        await queue.EnqueueAsync(Enumerable.Range(0, Messages).Select(_ => OutgoingMessage.Create("work", new BareBench.Todo())), CancellationToken.None);
        await Eventually.HoldsAsync(() => Volatile.Read(ref swallowed) > 0, "a handler has met the refusal");
        await bench.Databases.AllowConnectionsToWidgetsAsync(true);
        await Eventually.HoldsAsync(async () => await queue.CountAsync(CancellationToken.None) == 0, "the queue is empty");
        await host.StopAsync();

        Assert.That(await queue.ReadErrorsAsync(CancellationToken.None), Is.Empty);
        Assert.That(await bench.Databases.CountRowsAsync(), Is.EqualTo(Messages));
    }

    /// <summary>Whether the mode itself asks that database first, so that the handler is not entered.</summary>
    private static bool HasWorkOfItsOwn(TransactionMode mode) =>
        mode == TransactionMode.Outbox || mode == TransactionMode.FullDtc || mode == TransactionMode.FullDtcWaiting;
}
