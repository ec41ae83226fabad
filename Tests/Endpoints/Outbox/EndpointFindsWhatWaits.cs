using Kit.Runner.Servers;
using Npgsql;

namespace Kit.Tests.Outbox;

/// <summary>The outbox at the start of its endpoint, when an earlier process left something in it.</summary>
[Parallelizable]
public sealed class EndpointFindsWhatWaits
{
    private const string Sink = "built";

    // More records than are searched for at once.
    [TestCase("postgresql")]
    [TestCase("rabbitmq", Category = ExhaustiveAttribute.Category)]
    public async Task Two_dispatchers_share_it_and_each_record_is_dispatched_once(string transport)
    {
        await using var bench = await OutboxBench.CreateAsync(transport);
        var sink = bench.OpenQueue(Sink);
        await sink.CreateAsync(CancellationToken.None);
        await bench.LeaveAsync(600, Sink, Sink);
        using var one = bench.Build(_ => []);
        using var other = bench.Build(_ => []);

        await Task.WhenAll(one.StartAsync(), other.StartAsync());
        await Eventually.HoldsAsync(async () => await bench.CountWaitingAsync() == 0, "all is dispatched");
        await Task.WhenAll(one.StopAsync(), other.StopAsync());

        var arrived = await sink.ReadMessagesAsync(CancellationToken.None);
        await TestContext.Out.WriteLineAsync($"{arrived.Count} messages, {arrived.Count - arrived.Distinct().Count()} of them twice");
        Assert.That(arrived, Has.Count.EqualTo(1_200).And.Unique);
    }

    [TestCase("postgresql")]
    [TestCase("rabbitmq", Category = ExhaustiveAttribute.Category)]
    public async Task A_crash_of_the_database_does_not_end_the_search(string transport)
    {
        PostgreSqlServer.IgnoreWithoutPrograms();
        await using var server = await PrivatePostgreSql.StartAsync(CancellationToken.None);
        await using var bench = await OutboxBench.CreateAsync(
            transport, new NpgsqlConnectionStringBuilder(server.ConnectionString) { Pooling = false }.ConnectionString);
        await bench.LeaveAsync(20, Sink);
        using var log = new WarningsOfAHost();
        using var endpoint = bench.Build(_ => [], log: log);
        await endpoint.StartAsync();

        await server.StopImmediatelyAsync(CancellationToken.None);
        await Eventually.HoldsAsync(() => log.Count("The outbox cannot be dispatched or cleaned up") > 0, "a search has met the crash");
        await server.RestartAsync(CancellationToken.None);
        var sink = bench.OpenQueue(Sink);
        await sink.CreateAsync(CancellationToken.None);
        await Eventually.HoldsAsync(async () => await bench.CountWaitingAsync() == 0, "all is dispatched");
        await endpoint.StopAsync();

        Assert.That(await sink.ReadMessagesAsync(CancellationToken.None), Has.Count.EqualTo(20).And.Unique);
    }
}
