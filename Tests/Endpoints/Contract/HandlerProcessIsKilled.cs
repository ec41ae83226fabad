using System.Diagnostics;
using Kit.Endpoints.Bare;
using Kit.Endpoints.Cells;
using Kit.Guarantees;
using Kit.Handlers;
using Kit.Modes;
using Kit.Runner.Stage;
using Kit.Runner.Stage.Transports;

namespace Kit.Tests.Contract;

/// <summary>
/// Handler processes are killed in the middle of a drain, as by SIGKILL; another one goes on.
/// One is killed for each cell; the test run parameter <c>kills</c> says otherwise. Where a mode leaves messages in doubt
/// there is nobody to go on with them, so it has no part in this.
/// </summary>
[TestFixtureSource(nameof(Cells))]
[Parallelizable]
public sealed class HandlerProcessIsKilled(Cell cell)
{
    private const int MessagesPerKill = 300;
    private const int Concurrency = 2;

    // A machine that pauses can let a process end its drain before it is killed.
    private const int MostTooLate = 10;

    private static readonly int WantedKills = TestContext.Parameters.Get("kills", 1);

    private static IEnumerable<TestFixtureData> Cells => ContractCells.Of(
        cell => cell.Mode.CrashEffect != CrashEffect.LeavesInDoubt,
        always: cell => (cell.Kind.Framework, cell.Kind.Transport, cell.Mode.Name)
            is ("bare", "postgresql", "full-dtc") or ("bare", "rabbitmq", "dtc-off") or ("masstransit", "rabbitmq", "scope-off")
            || cell is { Kind.Framework: "rebus", Mode.Name: "shared", DeadLettersNext: true }
                or { Kind.Framework: "wolverine", Mode.Name: "outbox", PollsOften: true });

    private Transport On => Transport.Of(cell);

    [Test]
    public async Task Lost_and_doubled_are_what_the_mode_allows()
    {
        await using var databases = await ITestWidgets.CreateAsync(cell.Kind);
        await using var transport = await TestTransport.OpenAsync(cell, databases);
        await using var queue = cell.Kind.OpenQueueOf(cell.Mode, cell.Name, transport.Address, databases.Widgets);
        await queue.CreateAsync(CancellationToken.None);
        var spec = new HandlerSpec(cell.Name, cell.Name, transport.Address, databases.Widgets, Concurrency, RecordCompletions: false);
        var messages = new List<Guid>();
        var kills = 0;
        for (var inTheMiddle = 0; inTheMiddle < WantedKills; kills++)
        {
            Assert.That(kills, Is.LessThan(WantedKills + MostTooLate), "kills, of which too many came after the last message");
            var more = Enumerable.Range(0, MessagesPerKill).Select(_ => new BuildWidget(Guid.CreateVersion7())).ToList();
            messages.AddRange(more.Select(message => message.MessageId));
            await queue.PreloadAsync(more, CancellationToken.None);
            await KillAmongRowsAsync(spec, databases);
            if ((await databases.ReadRowsByMessageAsync()).Count < messages.Count)
                inTheMiddle++;
        }

        await DrainAsync(spec, queue, databases);

        var rows = await databases.ReadRowsByMessageAsync();
        var (lost, doubled) = (messages.Count(message => !rows.ContainsKey(message)), rows.Count(row => row.Value > 1));
        await TestContext.Out.WriteLineAsync($"{cell}: {kills} kills, {messages.Count} messages, {lost} lost, {doubled} doubled");
        using (Assert.EnterMultipleScope())
        {
            Assert.That(rows.Keys, Is.SubsetOf(messages));
            if (cell.Mode.CrashEffect != CrashEffect.Loses)
                Assert.That(lost, Is.Zero, "lost");
            if (cell.Mode.CrashEffect != CrashEffect.Doubles)
                Assert.That(doubled, Is.Zero, "doubled");
            Assert.That(doubled, Is.LessThanOrEqualTo(MostDoubled(kills)));
            Assert.That(await queue.ReadErrorsAsync(CancellationToken.None), Is.Empty);
            Assert.That(await databases.CountPreparedAsync(), Is.Zero, "prepared transactions left");
        }
    }

    /// <summary>As in a storm. Where no number is promised, messages can be lost, and none is doubled.</summary>
    private int MostDoubled(int kills) =>
        FaultPromise.Always(cell.Mode, On.IsBroker).Most(kills, cuts: 0, Concurrency * cell.BatchSize, On.Prefetch) ?? 0;

    /// <summary>Kills when some rows are there: they say that the process was at work.</summary>
    private static async Task KillAmongRowsAsync(HandlerSpec spec, ITestWidgets databases)
    {
        await using var handler = await HandlerProcess.StartAsync(spec, CancellationToken.None, isTiered: true);
        var before = await databases.CountRowsAsync();
        await handler.StartEndpointAsync(messages: 0, CancellationToken.None);
        await Eventually.HoldsAsync(async () => await databases.CountRowsAsync() > before + (MessagesPerKill / 10), "rows come");
        using var process = Process.GetProcessById(handler.Id);
        process.Kill();
        await process.WaitForExitAsync();
    }

    private static async Task DrainAsync(HandlerSpec spec, IMessageQueue queue, ITestWidgets databases)
    {
        await using var handler = await HandlerProcess.StartAsync(spec, CancellationToken.None, isTiered: true);
        await handler.StartEndpointAsync(messages: 0, CancellationToken.None);
        await Eventually.HoldsAsync(async () => await queue.CountAsync(CancellationToken.None) == 0, "the queue is empty");
        // What a broker has pushed without acknowledgements is out of its queue before it is handled; and recovery ends prepared transactions.
        var rows = await databases.CountRowsAsync();
        await Eventually.HoldsAsync(
            async () =>
            {
                await Task.Delay(TimeSpan.FromSeconds(1));
                return rows == (rows = await databases.CountRowsAsync()) && await databases.CountPreparedAsync() == 0;
            },
            "no more rows come, and nothing is prepared");
        await handler.StopEndpointAsync(CancellationToken.None);
    }
}
