using System.Data.Common;
using Npgsql;

namespace Kit.Tests.Outbox;

/// <summary>Two deliveries of one message that an endpoint in <c>outbox</c> handles at the same time.</summary>
[Parallelizable]
public sealed class MessageIsDeliveredTwiceAtOnce
{
    private const string Sink = "built";

    /// <summary>The first loses its session, so the second records the same id. Then the first reads what became of the message.</summary>
    [TestCase("postgresql")]
    [TestCase("rabbitmq")]
    public async Task What_the_second_has_handled_the_first_neither_forgets_nor_gives_up(string transport)
    {
        await using var bench = await OutboxBench.CreateAsync(transport);
        var sink = bench.OpenQueue(Sink);
        await sink.CreateAsync(CancellationToken.None);
        var entered = 0;
        using var endpoint = bench.Build(
            message => [(Sink, message)],
            schedule: OutboxBench.Never,
            work: async (context, cancellationToken) =>
            {
                if (Interlocked.Increment(ref entered) > 1)
                    return;

                await LoseSessionAsync(await context.GetConnectionAsync(cancellationToken));
                await Eventually.HoldsAsync(async () => await bench.Databases.CountRowsAsync() == 1, "the other delivery has committed");
                throw new InvalidOperationException("The test wants this attempt to fail.");
            });
        var message = Guid.CreateVersion7();
        await bench.SendAsync(message);
        await bench.SendAsync(message);
        await endpoint.StartAsync();

        await Eventually.HoldsAsync(() => Volatile.Read(ref entered) == 2, "both are handled");
        await bench.DrainedAsync();
        await Eventually.HoldsAsync(async () => await bench.CountWaitingAsync() == 0, "the outbox is empty");
        await endpoint.StopAsync();

        using (Assert.EnterMultipleScope())
        {
            Assert.That(await bench.Queue.ReadErrorsAsync(CancellationToken.None), Is.Empty, "given up");
            Assert.That(await TestDatabases.ScalarAsync(bench.Databases.Widgets, "SELECT count(*)::int FROM orders_inbox"), Is.EqualTo(1), "known");
            Assert.That(await sink.ReadMessagesAsync(CancellationToken.None), Is.EqualTo(new[] { message }));
            Assert.That(await bench.Databases.CountRowsAsync(), Is.EqualTo(1));
            Assert.That(bench.Entered, Is.EqualTo(2));
        }
    }

    /// <summary>The first has dispatched, and the deletion of its record waits.</summary>
    [TestCase("postgresql")]
    [TestCase("rabbitmq")]
    public async Task What_the_first_is_dispatching_the_second_does_not_send(string transport)
    {
        await using var bench = await OutboxBench.CreateAsync(transport);
        var sink = bench.OpenQueue(Sink);
        await sink.CreateAsync(CancellationToken.None);
        using var endpoint = bench.Build(message => [(Sink, message)], schedule: OutboxBench.Never);
        await endpoint.StartAsync();
        await using var parked = await ParkedCommit.PrepareAsync(bench.Databases.Widgets, $"{OutboxBench.Endpoint}_outbox", "DELETE");
        var message = Guid.CreateVersion7();
        await bench.SendAsync(message);
        await Eventually.HoldsAsync(parked.IsReachedAsync, "the first forgets what it has dispatched");

        await bench.SendAsync(message);
        // On RabbitMQ the first is not acknowledged yet.
        var unfinished = transport == "rabbitmq" ? 1 : 0;
        await Eventually.HoldsAsync(async () => await bench.Queue.CountAsync(CancellationToken.None) == unfinished, "the second is finished");
        var isSentTwice = await Eventually.IsSoAsync(
            async () => await sink.CountAsync(CancellationToken.None) > 1, within: TimeSpan.FromSeconds(2));
        await parked.EndAsync(commits: true);
        await endpoint.StopAsync();

        Assert.That(isSentTwice, Is.False);
        Assert.That(bench.Entered, Is.EqualTo(1));
        Assert.That(await bench.CountWaitingAsync(), Is.Zero);
    }

    /// <summary>The server ends the session, which rolls its transaction back, and the handler notices nothing.</summary>
    private static async Task LoseSessionAsync(DbConnection connection)
    {
        await using var lose = connection.CreateCommand();
        lose.CommandText = "SELECT pg_terminate_backend(pg_backend_pid())";
        Assert.That(() => lose.ExecuteNonQueryAsync(), Throws.InstanceOf<NpgsqlException>());
    }
}
