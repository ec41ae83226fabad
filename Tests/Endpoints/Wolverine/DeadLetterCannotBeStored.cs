using Kit.Endpoints.Cells;
using Kit.Guarantees;
using Kit.Modes;
using Kit.Runner.Servers;
using Kit.Tests.Contract;
using Weasel.Postgresql;

namespace Kit.Tests.Wolverine;

/// <summary>
/// Wolverine tries for a few seconds to store a dead letter. Then it lets the message wait for 30 s, in a table of its own, and handles it again. When this
/// fails, look at the limit of <c>server-read-only</c> in FactsOfWolverine.cs.
/// </summary>
[Parallelizable]
public sealed class DeadLetterCannotBeStored
{
    [Test]
    public async Task The_message_waits_and_counts_as_left_in_its_queue()
    {
        PostgreSqlServer.IgnoreWithoutPrograms();
        var cell = Cell.Find("wolverine.postgresql.scope-off.ado.often")!;
        await using var bench = await CellBench.CreateAsync(cell);
        var table = cell.Kind.TableOf(ErrorQueue.Of(cell.Name));
        await using (await RefusingTable.MakeAsync(bench.Settings.Transport, table.Name, table.Others, CancellationToken.None))
        {
            await bench.SendAsync(Situation.AlwaysThrowsAfterInsert, count: 1);
            await bench.StartAsync();
            await Eventually.HoldsAsync(() => WaitsAsync(bench), "the message waits");

            Assert.That(await bench.CountQueueAsync(), Is.EqualTo(1));
            Assert.That(await bench.ReadErrorsAsync(), Is.Empty);
        }
    }

    private static async Task<bool> WaitsAsync(CellBench bench) =>
        await TestDatabases.ScalarAsync(
            bench.Settings.Transport,
            $"SELECT count(*)::int FROM {PostgresqlIdentifier.Shorten("wolverine_queue_wolverine_postgresql_scope_off_ado_often_scheduled")}") == 1;
}
