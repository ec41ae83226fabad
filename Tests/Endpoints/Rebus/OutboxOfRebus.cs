using Rebus.Config;
using Rebus.Config.Outbox;
using Rebus.Pipeline;
using Rebus.PostgreSql.Outbox;
using Rebus.Retry.Simple;

namespace Kit.Tests.Rebus;

/// <summary>
/// Rebus's own outbox in the smallest program, with the handler's row on the outbox's connection: finding 17 in docs/reference/findings.md. When this fails,
/// a version of Rebus.PostgreSql has mended it, and outbox can be a cell.
/// </summary>
[Parallelizable]
public sealed class OutboxOfRebus
{
    private const int Attempts = 3;

    [Test]
    public async Task A_handler_that_sends_leaves_a_row_for_each_attempt_and_sends_nothing()
    {
        await using var bench = await RebusBench.CreateAsync();

        await bench.DrainAsync(rebus => Configure(rebus, bench.Database), async send =>
        {
            await InsertAsync(bench);
            await send();
        });

        using (Assert.EnterMultipleScope())
        {
            Assert.That(await bench.CountRowsAsync(), Is.EqualTo(Attempts));
            Assert.That(await bench.CountSentAsync(), Is.Zero);
            Assert.That((await bench.ReadErrorsAsync()).Single().Reason, Does.Contain("Transaction is already completed"));
        }
    }

    [Test]
    public async Task A_handler_that_sends_nothing_leaves_one_row()
    {
        await using var bench = await RebusBench.CreateAsync();

        await bench.DrainAsync(rebus => Configure(rebus, bench.Database), _ => InsertAsync(bench));

        using (Assert.EnterMultipleScope())
        {
            Assert.That(await bench.CountRowsAsync(), Is.EqualTo(1));
            Assert.That(await bench.ReadErrorsAsync(), Is.Empty);
        }
    }

    private static void Configure(RebusConfigurer rebus, string database) => rebus
        .Transport(transport => transport.UsePostgreSql(database, RebusBench.Table, RebusBench.Queue))
        .Outbox(outbox => outbox.StoreInPostgreSql(database, "outbox"))
        .Options(options => options.RetryStrategy(RebusBench.Errors, Attempts));

    // Rebus has no other access to it.
    private static Task InsertAsync(RebusBench bench) =>
        bench.InsertAsync(((OutboxConnection)MessageContext.Current.TransactionContext.Items["current-outbox-connection"]).Connection);
}
