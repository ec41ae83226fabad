using Kit.Modes;
using Npgsql;
using Rebus.Config;
using Rebus.Pipeline;
using Rebus.Retry.Simple;

namespace Kit.Tests.Rebus;

/// <summary>What a message leaves behind that is given up, by the moment at which Rebus moves it to the error queue.</summary>
[Parallelizable]
public sealed class MomentOfTheDeadLetter
{
    [TestCase(ErrorHandlerMode.Immediately, 1, 1)]
    [TestCase(ErrorHandlerMode.NextDelivery, 0, 0)]
    [TestCase(null, 0, 0)]
    public async Task In_shared_the_last_attempt_stays_if_it_is_moved_at_once(ErrorHandlerMode? moment, int rows, int sent)
    {
        await using var bench = await RebusBench.CreateAsync();

        await bench.DrainAsync(rebus => Configure(rebus, TransactionMode.Shared, bench.Database, moment), async send =>
        {
            await bench.InsertAsync(Received());
            await send();
            throw Intended();
        });

        using (Assert.EnterMultipleScope())
        {
            Assert.That(await bench.CountRowsAsync(), Is.EqualTo(rows));
            Assert.That(await bench.CountSentAsync(), Is.EqualTo(sent));
            Assert.That((await bench.ReadErrorsAsync()).Single().FailedAttempts, Is.EqualTo(TransactionMode.Shared.Attempts));
        }
    }

    [TestCase(ErrorHandlerMode.Immediately, 1)]
    [TestCase(ErrorHandlerMode.NextDelivery, 0)]
    [TestCase(null, 1)]
    public async Task In_scope_off_its_sends_go_out_if_it_is_moved_at_once(ErrorHandlerMode? moment, int sent)
    {
        await using var bench = await RebusBench.CreateAsync();

        await bench.DrainAsync(rebus => Configure(rebus, TransactionMode.ScopeOff, bench.Database, moment), async send =>
        {
            await send();
            throw Intended();
        });

        Assert.That(await bench.CountSentAsync(), Is.EqualTo(sent));
        Assert.That(await bench.ReadErrorsAsync(), Has.Count.EqualTo(1));
    }

    /// <summary>The failed statement has aborted the receive's transaction, whose commit PostgreSQL answers with a roll-back that nobody notices.</summary>
    [Test]
    public async Task In_shared_a_statement_that_always_fails_is_moved_again_and_again_if_it_is_moved_at_once()
    {
        await using var bench = await RebusBench.CreateAsync();
        await bench.StartAsync(rebus => Configure(rebus, TransactionMode.Shared, bench.Database, ErrorHandlerMode.Immediately), _ => InsertTwiceAsync(bench));

        await Eventually.HoldsAsync(async () => (await bench.ReadErrorsAsync()).Count >= 3, "three dead letters of one message");
        await bench.StopAsync();

        Assert.That(await bench.CountQueueAsync(), Is.EqualTo(1), "the message is still in its queue");
    }

    [Test]
    public async Task In_shared_a_statement_that_always_fails_is_moved_once_if_it_is_moved_at_the_next_delivery()
    {
        await using var bench = await RebusBench.CreateAsync();

        await bench.DrainAsync(
            rebus => Configure(rebus, TransactionMode.Shared, bench.Database, ErrorHandlerMode.NextDelivery), _ => InsertTwiceAsync(bench));

        Assert.That(await bench.ReadErrorsAsync(), Has.Count.EqualTo(1));
        Assert.That(await bench.CountRowsAsync(), Is.Zero);
    }

    /// <summary>The same, with a deferred constraint: the endpoint checks it before Rebus commits, which counts no failure of the commit.</summary>
    [Test]
    public async Task In_shared_work_whose_commit_is_always_refused_is_moved_again_and_again_if_it_is_moved_at_once()
    {
        await using var bench = await RebusBench.CreateAsync();
        await TestDatabases.RefuseCommitsAsync(bench.Database);
        await bench.StartAsync(
            rebus => Configure(rebus, TransactionMode.Shared, bench.Database, ErrorHandlerMode.Immediately), _ => bench.InsertAsync(Received()));

        await Eventually.HoldsAsync(async () => (await bench.ReadErrorsAsync()).Count >= 3, "three dead letters of one message");
        await bench.StopAsync();

        Assert.That(await bench.CountQueueAsync(), Is.EqualTo(1), "the message is still in its queue");
        Assert.That(await bench.CountRowsAsync(), Is.Zero);
    }

    private static void Configure(RebusConfigurer rebus, TransactionMode mode, string database, ErrorHandlerMode? moment) =>
        rebus.UseTransactionMode(mode, database, RebusBench.Table, RebusBench.Queue, moment);

    private static NpgsqlConnection Received() => MessageContext.Current.GetReceiveTransaction().Connection!;

    private static async Task InsertTwiceAsync(RebusBench bench)
    {
        await bench.InsertAsync(Received(), id: 1);
        await bench.InsertAsync(Received(), id: 1);
    }

    private static InvalidOperationException Intended() => new("The test wants this attempt to fail.");
}
