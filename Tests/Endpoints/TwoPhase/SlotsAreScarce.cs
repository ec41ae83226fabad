using Kit.Modes;
using Kit.Runner.Servers;
using Npgsql;

namespace Kit.Tests.TwoPhase;

/// <summary>Prepared transactions of the server, fewer than all who want them together: on a server of the test's own with 12.</summary>
[Parallelizable]
public sealed class SlotsAreScarce
{
    private const int Slots = 12;

    private PrivatePostgreSql server = null!;
    private TwoPhaseBench bench = null!;

    [OneTimeSetUp]
    public async Task StartServer() => server = await ServerOfFewSlots.StartAsync(Slots);

    [OneTimeTearDown]
    public async Task StopServer()
    {
        if (server is not null)
            await server.DisposeAsync();
    }

    [SetUp]
    public async Task SetUp() => bench =
        await TwoPhaseBench.CreateAsync(new NpgsqlConnectionStringBuilder(server.ConnectionString) { Pooling = false }.ConnectionString);

    [TearDown]
    public async Task TearDown() => await bench.DisposeAsync();

    [Test]
    public async Task Six_endpoints_that_want_more_than_there_are_handle_every_message_once()
    {
        var messages = await bench.EnqueueAsync(600);
        for (var endpoint = 0; endpoint < 6; endpoint++)
            await StartAsync(concurrency: 5);

        await bench.DrainedAsync();

        await EachHasOneRowAsync(messages);
    }

    [Test]
    public async Task Those_that_another_application_holds_are_waited_for()
    {
        await StartAsync(concurrency: 5);
        for (var held = 0; held < Slots; held++)
            await PrepareAsync($"another application/{held}");
        var messages = await bench.EnqueueAsync(50);

        await Eventually.HoldsAsync(() => Told().Count > 0, "the endpoint waits");
        var gaveUp = await Eventually.IsSoAsync(async () => (await bench.ReadErrorsAsync()).Count > 0, TimeSpan.FromSeconds(2));
        await bench.Databases.RollBackPreparedAsync();

        Assert.That(gaveUp, Is.False, "a dead letter");
        Assert.That(Told(), Has.Count.EqualTo(1));
        await bench.DrainedAsync();
        await EachHasOneRowAsync(messages);

        List<string> Told() =>
            [.. bench.Log.Where(line => line.Contains($"{Slots} of the server's {Slots} slots", StringComparison.Ordinal))];
    }

    [Test]
    public async Task A_restart_that_leaves_none_lets_messages_wait()
    {
        await StartAsync(concurrency: 2);
        try
        {
            await RestartAsync(slots: 0);
            var messages = await bench.EnqueueAsync(2);
            await Eventually.HoldsAsync(
                () => bench.Log.Count(line => line.Contains("prepared transactions are disabled", StringComparison.Ordinal)) >= 5,
                "they were tried more often than a message may fail");
            await RestartAsync(Slots);

            await bench.DrainedAsync();
            await EachHasOneRowAsync(messages);
        }
        finally
        {
            await RestartAsync(Slots);
        }
    }

    [Test]
    public async Task Fewer_free_than_it_needs_are_said_at_start()
    {
        await PrepareAsync("another application/1");
        await StartAsync(concurrency: 5);
        await bench.Databases.RollBackPreparedAsync();

        Assert.That(bench.Log, Has.Some.Contains($"full-dtc needs 12 slots for prepared transactions, and 1 of the server's {Slots} are in use"));
        Assert.That(bench.Log, Has.Some.Contains("'another application/1' of role kit"));
    }

    private Task StartAsync(int concurrency) => bench.StartAsync(
        TransactionMode.FullDtc, concurrency, TwoPhaseBench.InsertAsync, WithPool(bench.Databases.Queue), WithPool(bench.Databases.Widgets));

    private async Task RestartAsync(int slots)
    {
        await TestDatabases.ExecuteAsync(server.ConnectionString, $"ALTER SYSTEM SET max_prepared_transactions = {slots}");
        await server.RestartAsync(CancellationToken.None);
    }

    private async Task EachHasOneRowAsync(IReadOnlyCollection<Guid> messages)
    {
        var rows = await bench.Databases.ReadRowsByMessageAsync();
        Assert.Multiple(() =>
        {
            Assert.That(messages.Where(message => rows.GetValueOrDefault(message) != 1), Is.Empty, "lost or doubled");
            Assert.That(rows, Has.Count.EqualTo(messages.Count));
        });
        Assert.That(await bench.ReadErrorsAsync(), Is.Empty);
    }

    private async Task PrepareAsync(string globalId)
    {
        await using var source = NpgsqlDataSource.Create(bench.Databases.Widgets);
        await using var connection = await source.OpenConnectionAsync();
        foreach (var statement in new[] { "BEGIN", $"PREPARE TRANSACTION '{globalId}'" })
            await TwoPhaseBench.ExecuteAsync(connection, statement);
    }

    private static string WithPool(string connection) => new NpgsqlConnectionStringBuilder(connection) { Pooling = true, MaxPoolSize = 5 }.ConnectionString;
}
