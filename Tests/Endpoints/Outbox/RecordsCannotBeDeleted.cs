using Npgsql;

namespace Kit.Tests.Outbox;

/// <summary>Sends wait in the outbox, and the handlers' server does not let it delete their records.</summary>
[Parallelizable]
public sealed class RecordsCannotBeDeleted
{
    private const string Sink = "built";

    [TestCase("postgresql")]
    [TestCase("rabbitmq")]
    public async Task Because_the_server_is_read_only_and_nothing_is_sent_until_it_writes(string transport)
    {
        await using var bench = await OutboxBench.CreateAsync(transport);
        var sink = bench.OpenQueue(Sink);
        await sink.CreateAsync(CancellationToken.None);
        await bench.LeaveAsync(2, Sink);
        await SetReadOnlyAsync(bench, "on");
        using var log = new WarningsOfAHost();
        using var endpoint = bench.Build(_ => [], log: log);

        await endpoint.StartAsync();
        await Eventually.HoldsAsync(() => log.Count("read-only transaction") > 1, "two searches have failed");
        Assert.That(await sink.CountAsync(CancellationToken.None), Is.Zero);
        await SetReadOnlyAsync(bench, "off");
        await Eventually.HoldsAsync(async () => await bench.CountWaitingAsync() == 0, "the outbox is empty");
        await endpoint.StopAsync();

        Assert.That((await sink.ReadMessagesAsync(CancellationToken.None)).Distinct().Count(), Is.EqualTo(2));
        Assert.That(await sink.CountAsync(CancellationToken.None), Is.EqualTo(2));
    }

    [TestCase("rabbitmq")]
    public async Task After_a_dispatch_and_it_is_not_repeated(string transport)
    {
        await using var bench = await OutboxBench.CreateAsync(transport);
        var sink = bench.OpenQueue(Sink);
        await sink.CreateAsync(CancellationToken.None);
        await bench.LeaveAsync(2, Sink);
        await TestDatabases.ExecuteAsync(
            bench.Databases.Widgets,
            $"""
            CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN RAISE EXCEPTION 'not now'; END$$;
            CREATE TRIGGER refuse BEFORE DELETE ON {OutboxBench.Endpoint}_outbox FOR EACH ROW EXECUTE FUNCTION refuse();
            """);
        using var log = new WarningsOfAHost();
        using var endpoint = bench.Build(_ => [], log: log);

        await endpoint.StartAsync();
        // The 1st, the 2nd and the 4th are logged.
        await Eventually.HoldsAsync(() => log.Count("not now") > 2, "four searches have failed");
        Assert.That(await sink.CountAsync(CancellationToken.None), Is.EqualTo(1));
        await TestDatabases.ExecuteAsync(bench.Databases.Widgets, $"DROP TRIGGER refuse ON {OutboxBench.Endpoint}_outbox");
        await Eventually.HoldsAsync(async () => await bench.CountWaitingAsync() == 0, "the outbox is empty");
        await endpoint.StopAsync();

        Assert.That(await sink.CountAsync(CancellationToken.None), Is.EqualTo(2));
    }

    private static Task SetReadOnlyAsync(OutboxBench bench, string value) => TestDatabases.ExecuteAsync(
        bench.Databases.Queue,
        $"ALTER DATABASE {new NpgsqlConnectionStringBuilder(bench.Databases.Widgets).Database} SET default_transaction_read_only = {value}");
}
