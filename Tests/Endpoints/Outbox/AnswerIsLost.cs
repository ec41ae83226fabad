using System.Text;
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
        await using var proxy = ProxyOf(bench.Databases.Queue);
        using var endpoint = bench.Build(message => [(Sink, message)], queues: Through(proxy, bench.Databases.Queue));
        await endpoint.StartAsync();
        var message = Guid.CreateVersion7();
        var cut = proxy.CutAt([Uuid(message), Encoding.ASCII.GetBytes("COMMIT\0")], CutMoment.BeforeAnswer, Ending.Cut);

        await bench.SendAsync(message);
        await Eventually.HoldsAsync(() => cut.Fired.IsCompleted, "the connection is cut");
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
        await using var proxy = ProxyOf(bench.Databases.Widgets);
        var message = Guid.CreateVersion7();
        ArmedFault? cut = null;
        using var endpoint = bench.Build(
            handled =>
            {
                if (bench.Entered < 3)
                    throw new InvalidOperationException("The test wants this attempt to fail.");

                // Its id is in the commit's batch with the outgoing message.
                cut = proxy.CutAt([Uuid(handled)], CutMoment.BeforeAnswer, Ending.Cut);
                return [(Sink, handled)];
            },
            widgets: Through(proxy, bench.Databases.Widgets));
        await endpoint.StartAsync();

        await bench.SendAsync(message);
        await Eventually.HoldsAsync(() => cut is { Fired.IsCompleted: true }, "the connection is cut");
        await Eventually.HoldsAsync(async () => await sink.CountAsync(CancellationToken.None) > 0, "what it sent arrives");
        await bench.DrainedAsync();
        await endpoint.StopAsync();

        Assert.That(await bench.Queue.ReadErrorsAsync(CancellationToken.None), Is.Empty);
        Assert.That(await sink.ReadMessagesAsync(CancellationToken.None), Is.EqualTo(new[] { message }));
        Assert.That(await bench.Databases.CountRowsAsync(), Is.EqualTo(1));
    }

    private static FaultProxy ProxyOf(string connectionString)
    {
        var server = new NpgsqlConnectionStringBuilder(connectionString);
        return new FaultProxy(server.Host!, server.Port);
    }

    private static string Through(FaultProxy proxy, string connectionString) =>
        new NpgsqlConnectionStringBuilder(connectionString) { Host = "127.0.0.1", Port = proxy.Port }.ConnectionString;

    private static ReadOnlyMemory<byte> Uuid(Guid id) => id.ToByteArray(bigEndian: true);
}
