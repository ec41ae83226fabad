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
        using var endpoint = bench.Build(message => [(Sink, message)], work: async (context, cancellationToken) =>
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

    /// <summary>The server ends the session, which rolls its transaction back, and the handler notices nothing.</summary>
    private static async Task LoseSessionAsync(DbConnection connection)
    {
        await using var lose = connection.CreateCommand();
        lose.CommandText = "SELECT pg_terminate_backend(pg_backend_pid())";
        Assert.That(() => lose.ExecuteNonQueryAsync(), Throws.InstanceOf<NpgsqlException>());
    }
}
