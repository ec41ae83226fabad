using System.Collections.Concurrent;
using System.Diagnostics;
using Kit.Endpoints.Bare;
using Kit.Endpoints.Bare.Health;
using Kit.Endpoints.Bare.PostgreSql;
using Kit.Handlers;
using Kit.Modes;
using Npgsql;

namespace Kit.Tests.Bare;

/// <summary>A handler returns, and a task that it did not await goes on with what it was lent.</summary>
[Parallelizable]
public sealed class HandlerWorksOnAfterItsReturn
{
    private const int Messages = 3;

    private BareBench bench = null!;

    private static IEnumerable<TestCaseData> Cases =>
    [
        .. BareBench.Modes.Select(mode => Of(mode, AccessLibrary.Baseline)),
        .. AccessLibrary.All.Where(access => access.Support.IsSupported && access.Name != AccessLibrary.Baseline)
            .Select(access => Of(TransactionMode.Shared, access.Name)),
        .. BareBench.Modes.Where(mode => PostgreSqlSupport.InBatches(mode, LogFlush.Every).IsSupported)
            .Select(mode => Of(mode, AccessLibrary.Baseline, batch: 2)),
        Of(TransactionMode.Shared, AccessLibrary.Baseline, ahead: true),
    ];

    [SetUp]
    public async Task SetUp() => bench = await BareBench.CreateAsync();

    [TearDown]
    public async Task TearDown() => await bench.DisposeAsync();

    [ModeSource(nameof(Cases))]
    public async Task Its_connection_refuses(TransactionMode mode, AccessLibrary access, int batch, bool ahead)
    {
        var left = await HandleAsync(mode, batch, ahead, async (context, cancellationToken) =>
        {
            var connection = await context.GetConnectionAsync(cancellationToken);
            var insert = access.CreateInsert();
            await insert.InsertAsync(connection, await context.GetTransactionAsync(cancellationToken), WidgetOf(context), cancellationToken);
            return [() => insert.InsertAsync(connection, transaction: null, WidgetOf(context), CancellationToken.None)];
        });

        foreach (var task in left)
            Assert.That(() => task, Throws.InstanceOf<InvalidOperationException>());
        await Eventually.HoldsAsync(async () => await bench.Databases.CountRowsAsync() >= Messages, "the handlers' rows are visible");
        Assert.That(await bench.Databases.CountRowsAsync(), Is.EqualTo(Messages), "and no others");
    }

    [ModeSource(typeof(BareBench), nameof(BareBench.Modes))]
    public async Task Its_context_refuses_connections_and_sends(TransactionMode mode)
    {
        var left = await HandleAsync(mode, batch: 1, ahead: false, (context, _) => Task.FromResult<Func<Task>[]>(
        [
            async () => await context.GetConnectionAsync(CancellationToken.None),
            async () => await context.GetTransactionAsync(CancellationToken.None),
            () => context.SendAsync("work", new BareBench.Todo()),
            () => context.PublishAsync(new BareBench.Todo()),
        ]));

        foreach (var task in left)
            Assert.That(() => task, Throws.InvalidOperationException.With.Message.Contains("has ended").And.Message.Contains("await"));
        Assert.That(await bench.QueueOf(mode).CountAsync(CancellationToken.None), Is.Zero);
    }

    private static TestCaseData Of(TransactionMode mode, string access, int batch = 1, bool ahead = false) =>
        new TestCaseData(mode, AccessLibrary.All.Single(library => library.Name == access), batch, ahead)
            .SetArgDisplayNames(mode.ToString(), access, batch == 1 ? "one at a time" : "in batches", ahead ? "ahead" : "not ahead");

    private static Widget WidgetOf(MessageContext context) => new(WidgetId.Next(), context.MessageId);

    /// <summary>Handles messages, lets go what their handlers left behind, and waits for that while the endpoint runs.</summary>
    private async Task<IReadOnlyList<Task>> HandleAsync(
        TransactionMode mode, int batch, bool ahead, Func<MessageContext, CancellationToken, Task<Func<Task>[]>> handle)
    {
        var queue = bench.QueueOf(mode);
        await queue.EnqueueAsync(Enumerable.Range(0, Messages).Select(_ => OutgoingMessage.Create("work", new BareBench.Todo())), CancellationToken.None);
        var left = new ConcurrentQueue<Func<Task>[]>();
        EndpointStatus status = null!;
        using var host = bench.Build(
            mode, async (context, cancellationToken) => left.Enqueue(await handle(context, cancellationToken)),
            configure: endpoint => status = endpoint.ReceiveInBatches(batch).ReceiveAhead(ahead).Status);
        await host.StartAsync();
        await Eventually.HoldsAsync(
            async () => left.Count >= Messages && await queue.CountAsync(CancellationToken.None) == 0, "the messages are handled");
        // The last commit is seen before its worker has taken back what it had lent.
        var seen = Stopwatch.StartNew();
        await Eventually.HoldsAsync(() => seen.Elapsed > status.SinceReceive, "the worker is done with the last one");
        var tasks = left.SelectMany(works => works).Select(BetweenPollsAsync).ToList();
        await Task.WhenAll(tasks).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        await host.StopAsync();
        return tasks;
    }

    /// <summary>An idle worker asks its queue now and then.</summary>
    private static async Task BetweenPollsAsync(Func<Task> work)
    {
        while (true)
        {
            try
            {
                await work();
                return;
            }
            catch (NpgsqlOperationInProgressException)
            {
                await Task.Delay(1);
            }
        }
    }
}
