using System.Diagnostics;
using Kit.Endpoints.Bare;
using Kit.Endpoints.Cells;
using Kit.Handlers;
using Kit.Runner.Measuring;
using Kit.Runner.Results;
using Kit.Runner.Stage;
using Kit.Runner.Stage.Databases;
using Npgsql;

namespace Kit.Tests.Rounds;

/// <summary>A drain that does not come to its end.</summary>
[Parallelizable]
public sealed class DrainWithoutEnd
{
    private const int Messages = 5;

    private static readonly TimeSpan StallLimit = TimeSpan.FromSeconds(1.5);
    private static readonly Cell Cell = Cell.All.First(cell => cell is { Kind.Framework: "bare", Mode.Name: "scope-off", Access.Name: "ado" });

    private KitDatabases databases = null!;
    private RoundDatabases restored = null!;
    private IMessageQueue queue = null!;
    private HandlerProcesses handlers = null!;

    [SetUp]
    public async Task Restore()
    {
        databases = new KitDatabases((await PostgreSqlServer.GetAsync()).ConnectionString);
        await databases.SeedAsync(0, new Progress<int>(), CancellationToken.None);
        restored = await databases.RestoreAsync(CancellationToken.None);
        queue = Cell.Kind.OpenQueue(Cell.Name, EndpointConnections.ForRunner(restored.Queue));
        await queue.CreateAsync(CancellationToken.None);
        await queue.PreloadAsync([.. Enumerable.Range(0, Messages).Select(_ => new BuildWidget(Guid.CreateVersion7()))], CancellationToken.None);
        handlers = await StartAsync(Cell, concurrency: 2);
    }

    [TearDown]
    public async Task Drop()
    {
        if (handlers is not null)
            await handlers.DisposeAsync();
        if (queue is not null)
            await queue.DisposeAsync();
        if (databases is not null)
            await databases.DisposeAsync();
    }

    [Test]
    [CancelAfter(300_000)]
    public async Task Messages_that_nobody_may_take_stall_it(CancellationToken cancellationToken)
    {
        await using var holder = await LockAsync(restored.Queue, $"SELECT FROM \"{Cell.Name}\" FOR UPDATE");

        var drained = await DrainAsync(cancellationToken);

        Assert.That(drained.Stalled, Is.EqualTo("no progress for 1.5 s with 5 messages left"));
        Assert.That(drained.Report.Handled, Is.Zero);
    }

    [Test]
    [CancelAfter(300_000)]
    public async Task A_handler_process_that_ends_breaks_it_at_once(CancellationToken cancellationToken)
    {
        await using var holder = await LockAsync(restored.Queue, $"SELECT FROM \"{Cell.Name}\" FOR UPDATE");
        var watch = Stopwatch.StartNew();
        var drain = new Drain(handlers, Drain.DefaultStallLimit, new Progress<int>()).RunAsync(Messages, cancellationToken);
        using (var process = Process.GetProcessById(handlers.Ids!.Single()))
            process.Kill();

        await Assert.ThatAsync(() => drain, Throws.TypeOf<KitException>().With.Message.EqualTo("The handler process failed: it ended unexpectedly."));
        Assert.That(watch.Elapsed, Is.LessThan(Drain.DefaultStallLimit), "not as a drain without progress");
    }

    [Test]
    [CancelAfter(300_000)]
    public async Task A_handler_process_that_ended_before_breaks_it_too(CancellationToken cancellationToken)
    {
        using (var process = Process.GetProcessById(handlers.Ids!.Single()))
        {
            process.Kill();
            await process.WaitForExitAsync(cancellationToken);
        }

        await Assert.ThatAsync(() => DrainAsync(cancellationToken), Throws.TypeOf<KitException>());
    }

    [Test]
    [CancelAfter(300_000)]
    public async Task Messages_that_are_still_handled_are_waited_for_though_the_queue_is_empty(CancellationToken cancellationToken)
    {
        var withoutTransactions = Cell.All.First(cell =>
            cell is { Kind.Framework: "bare", Mode.Name: "transactions-off", Access.Name: "ado" } && cell.Kind == Cell.Kind);
        await using var all = await StartAsync(withoutTransactions, concurrency: Messages + 1);
        var quiet = TimeSpan.FromSeconds(1.5);
        Task<Drained> drain;
        await using (await LockAsync(restored.Widgets, "LOCK TABLE widget"))
        {
            drain = new Drain(all, Drain.DefaultStallLimit, new Progress<int>()) { Quiet = quiet }.RunAsync(Messages + 1, cancellationToken);
            await Eventually.HoldsAsync(() => all.Entered == Messages, "all handlers wait for the lock");
            await Task.Delay(2 * quiet, cancellationToken);
            // An endpoint that was told to stop takes no other message.
            await queue.PreloadAsync([new BuildWidget(Guid.CreateVersion7())], cancellationToken);
        }

        var drained = await drain;
        Assert.That(drained.Stalled, Is.Null);
        Assert.That(drained.Report.Handled, Is.EqualTo(Messages + 1));
    }

    private Task<HandlerProcesses> StartAsync(Cell cell, int concurrency) =>
        HandlerProcesses.StartAsync(
            1,
            new HandlerSpec(
                cell.Name, Cell.Name,
                EndpointConnections.For(restored.Queue),
                EndpointConnections.For(restored.Widgets),
                concurrency, RecordCompletions: false),
            queue,
            CancellationToken.None,
            isTiered: true);

    private Task<Drained> DrainAsync(CancellationToken cancellationToken) =>
        new Drain(handlers, StallLimit, new Progress<int>()).RunAsync(Messages, cancellationToken);

    private static async Task<NpgsqlConnection> LockAsync(string database, string statement)
    {
        var holder = new NpgsqlConnection(EndpointConnections.ForRunner(database));
        await holder.OpenAsync();
        await holder.BeginTransactionAsync();
        await using var command = new NpgsqlCommand(statement, holder);
        await command.ExecuteNonQueryAsync();
        return holder;
    }
}
