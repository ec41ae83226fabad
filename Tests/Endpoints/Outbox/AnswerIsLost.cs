using Kit.Runner.Results.Points;
using Kit.Runner.Wire;
using Npgsql;

namespace Kit.Tests.Outbox;

/// <summary>The outbox, when its connection is cut while the answer to a commit is on its way: the commit has happened.</summary>
[Parallelizable]
public sealed class AnswerIsLost
{
    private const string Sink = "built";

    [Test]
    public async Task To_the_commit_of_the_receive_and_nothing_is_sent_twice()
    {
        await using var bench = await OutboxBench.CreateAsync("postgresql");
        var sink = bench.OpenQueue(Sink);
        await sink.CreateAsync(CancellationToken.None);
        await using var proxy = new GatedPostgreSql(bench.Databases.Queue);
        using var endpoint = bench.Build(message => [(Sink, message)], queues: proxy.Through, schedule: OutboxBench.Patient);
        await endpoint.StartAsync();
        var message = Guid.CreateVersion7();
        proxy.Arm(new MarkedRequest { Text = MarkedRequest.Commit, Follows = message }, PointWay.Cut);

        await bench.SendAsync(message);
        await Eventually.HoldsAsync(() => proxy.HasFired, "the connection is cut");
        await Eventually.HoldsAsync(async () => await bench.CountWaitingAsync() == 0, "the outbox is empty");
        await endpoint.StopAsync();

        Assert.That(await sink.ReadMessagesAsync(CancellationToken.None), Is.EqualTo(new[] { message }));
        Assert.That(bench.Entered, Is.EqualTo(1));
    }

    [TestCase("postgresql")]
    [TestCase("rabbitmq")]
    public async Task To_the_commit_of_the_last_attempt_and_the_message_is_not_given_up(string transport)
    {
        await using var bench = await OutboxBench.CreateAsync(transport);
        var sink = bench.OpenQueue(Sink);
        await sink.CreateAsync(CancellationToken.None);
        await using var proxy = new GatedPostgreSql(bench.Databases.Widgets);
        var message = Guid.CreateVersion7();
        using var endpoint = bench.Build(
            handled =>
            {
                if (bench.Entered < 3)
                    throw new InvalidOperationException("The test wants this attempt to fail.");

                // Its id is in the commit's batch with the outgoing message.
                proxy.Arm(new MarkedRequest { Text = MarkedRequest.Commit, Follows = handled }, PointWay.Cut);
                return [(Sink, handled)];
            },
            widgets: proxy.Through, schedule: OutboxBench.Patient);
        await endpoint.StartAsync();

        await bench.SendAsync(message);
        await Eventually.HoldsAsync(() => proxy.HasFired, "the connection is cut");
        await Eventually.HoldsAsync(async () => await sink.CountAsync(CancellationToken.None) > 0, "what it sent arrives");
        await bench.DrainedAsync();
        await endpoint.StopAsync();

        Assert.That(await bench.Queue.ReadErrorsAsync(CancellationToken.None), Is.Empty);
        Assert.That(await sink.ReadMessagesAsync(CancellationToken.None), Is.EqualTo(new[] { message }));
        Assert.That(await bench.Databases.CountRowsAsync(), Is.EqualTo(1));
    }

    /// <summary>The server has the commit, and does not notice that its client is gone: for the next session nothing has happened yet.</summary>
    [TestCase("postgresql")]
    [TestCase("rabbitmq")]
    public async Task While_the_last_attempt_still_commits_and_the_message_is_not_given_up(string transport)
    {
        await using var bench = await OutboxBench.CreateAsync(transport);
        var server = new NpgsqlConnectionStringBuilder(bench.Databases.Widgets);
        await using var proxy = new FaultProxy(server.Host!, server.Port);
        (server.Host, server.Port) = ("127.0.0.1", proxy.Port);
        using var endpoint = bench.Build(
            _ => bench.Entered < 3 ? throw new InvalidOperationException("The test wants this attempt to fail.") : [],
            widgets: server.ConnectionString, schedule: OutboxBench.Never);
        await endpoint.StartAsync();
        await using var parked = await ParkedCommit.PrepareAsync(bench.Databases.Widgets, "widget", "INSERT");

        await bench.SendAsync(Guid.CreateVersion7());
        await Eventually.HoldsAsync(parked.IsReachedAsync, "the last attempt commits");
        await proxy.EndAllAsync(Ending.Reset);
        await Eventually.HoldsAsync(
            async () => await TestDatabases.CountWaitingForATransactionAsync(bench.Databases.Widgets) > 0
                || (await bench.Queue.ReadErrorsAsync(CancellationToken.None)).Count > 0,
            "it waits for the commit, or gives the message up");
        await parked.EndAsync(commits: true);
        await bench.DrainedAsync();
        await endpoint.StopAsync();

        Assert.That(await bench.Queue.ReadErrorsAsync(CancellationToken.None), Is.Empty);
        Assert.That(await bench.Databases.CountRowsAsync(), Is.EqualTo(1));
        Assert.That(bench.Entered, Is.EqualTo(3));
    }

    // As when the server crashes after the commit: it cannot be asked at once, either.
    [TestCase("postgresql")]
    [TestCase("rabbitmq")]
    public async Task To_the_commit_of_the_last_attempt_and_the_server_is_away_for_a_while(string transport)
    {
        await using var bench = await OutboxBench.CreateAsync(transport);
        await using var gate = new GatedPostgreSql(bench.Databases.Widgets);
        var gated = new NpgsqlConnectionStringBuilder(gate.Through) { Pooling = false };
        await using var proxy = new FaultProxy(gated.Host!, gated.Port);
        gated.Port = proxy.Port;
        using var endpoint = bench.Build(
            handled =>
            {
                if (bench.Entered < 3)
                    throw new InvalidOperationException("The test wants this attempt to fail.");

                gate.Arm(new MarkedRequest { Text = MarkedRequest.Commit }, PointWay.Cut);
                proxy.RefuseConnections();
                return [];
            },
            widgets: gated.ConnectionString);
        await endpoint.StartAsync();

        await bench.SendAsync(Guid.CreateVersion7());
        await Eventually.HoldsAsync(() => gate.HasFired, "the connection is cut");
        var refused = proxy.Refused;
        await Eventually.HoldsAsync(() => proxy.Refused > refused + 2, "it has asked in vain");
        proxy.AcceptConnections();
        await bench.DrainedAsync();
        await endpoint.StopAsync();

        Assert.That(await bench.Queue.ReadErrorsAsync(CancellationToken.None), Is.Empty);
        Assert.That(await bench.Databases.CountRowsAsync(), Is.EqualTo(1));
        Assert.That(bench.Entered, Is.EqualTo(3));
    }
}
