using Kit.Modes;

namespace Kit.Tests.TwoPhase;

/// <summary>As many connections as handlers, in the queue's pool and in the handlers'; to wait for one lasts longer than the test.</summary>
[Parallelizable]
public sealed class PoolIsAsSmallAsTheConcurrency
{
    private const int Concurrency = 4;

    private static readonly TimeSpan Limit = TimeSpan.FromSeconds(45);

    private TwoPhaseBench bench = null!;

    [SetUp]
    public async Task SetUp() => bench = await TwoPhaseBench.CreateAsync();

    [TearDown]
    public async Task TearDown() => await bench.DisposeAsync();

    [TestCase("full-dtc")]
    [TestCase("full-dtc-waiting")]
    public async Task Second_phases_wait_for_no_handler(string mode)
    {
        var messages = await bench.EnqueueAsync(100);
        await bench.StartAsync(TransactionMode.Parse(mode), Concurrency, TwoPhaseBench.InsertAsync, pool: Concurrency);

        Assert.That(
            await Eventually.IsSoAsync(bench.IsDrainedAsync, Limit),
            Is.True,
            $"drained; {await bench.Queue.CountAsync(CancellationToken.None)} are left");
        Assert.That(await bench.Databases.CountRowsAsync(), Is.EqualTo(messages.Count));
        Assert.That(await bench.ReadErrorsAsync(), Is.Empty);
    }

    [TestCase("full-dtc")]
    [TestCase("full-dtc-waiting")]
    public async Task One_row_that_all_handlers_change_is_handed_on_from_one_to_the_next(string mode)
    {
        await TestDatabases.ExecuteAsync(bench.Databases.Widgets, "CREATE TABLE total (messages int NOT NULL); INSERT INTO total VALUES (0)");
        var messages = await bench.EnqueueAsync(50);
        await bench.StartAsync(
            TransactionMode.Parse(mode),
            Concurrency,
            async (context, cancellationToken) =>
                await TwoPhaseBench.ExecuteAsync(await context.GetConnectionAsync(cancellationToken), "UPDATE total SET messages = messages + 1"),
            pool: Concurrency);

        Assert.That(
            await Eventually.IsSoAsync(bench.IsDrainedAsync, Limit),
            Is.True,
            $"drained; {await bench.Queue.CountAsync(CancellationToken.None)} are left");
        Assert.That(await TestDatabases.ScalarAsync(bench.Databases.Widgets, "SELECT messages FROM total"), Is.EqualTo(messages.Count));
        Assert.That(await bench.ReadErrorsAsync(), Is.Empty);
    }
}
