using System.Collections.Concurrent;
using Kit.Endpoints.Bare;
using Kit.Modes;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;
using Npgsql;

namespace Kit.Tests.Bare;

/// <summary>The queue's role or database has settings for sessions that are not a queue's.</summary>
[Parallelizable]
public sealed class QueuesRoleHasSettings
{
    /// <summary>Above read committed the server refuses a row that another worker has received meanwhile, instead of skipping it.</summary>
    [Test]
    public async Task Workers_do_not_disturb_each_other_at_its_isolation_level()
    {
        const int Messages = 500;
        await using var bench = await BareBench.CreateAsync();
        await SetAsync(bench, "default_transaction_isolation = 'serializable'");
        await bench.QueueOf(TransactionMode.TransactionsOff).EnqueueAsync(
            Enumerable.Range(0, Messages).Select(_ => OutgoingMessage.Create("work", new BareBench.Todo())), CancellationToken.None);
        var (warnings, handled) = (new WarningsOfAHost(), new ConcurrentQueue<Guid>());
        using var host = bench.Build(
            TransactionMode.TransactionsOff,
            (context, _) =>
            {
                handled.Enqueue(context.MessageId);
                return Task.CompletedTask;
            },
            configure: endpoint => endpoint.LimitConcurrency(4),
            services: services => services.AddLogging(logging => logging.AddProvider(warnings)));

        await host.StartAsync();
        await Eventually.HoldsAsync(() => handled.Count == Messages, "all are handled");
        await host.StopAsync();

        Assert.That(warnings.Lines, Is.Empty);
    }

    /// <summary>As after an old transaction, which makes the queue slow. Each retry would take as long.</summary>
    [Test]
    public async Task A_receive_may_take_longer_than_its_statements()
    {
        await using var bench = await BareBench.CreateAsync();
        await TestDatabases.ExecuteAsync(
            bench.Databases.Queue,
            """
            CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(1); RETURN NULL; END';
            CREATE TRIGGER slow BEFORE DELETE ON work FOR EACH STATEMENT EXECUTE FUNCTION slow();
            """);
        await SetAsync(bench, "statement_timeout = '500ms'");
        await SetAsync(bench, "lock_timeout = '500ms'");

        Assert.That(await bench.HandleAsync(TransactionMode.DtcOff, (_, _) => Task.CompletedTask), Is.Empty);
    }

    private static Task SetAsync(BareBench bench, string setting) => TestDatabases.ExecuteAsync(
        bench.Databases.Queue, $"ALTER DATABASE {new NpgsqlConnectionStringBuilder(bench.Databases.Queue).Database} SET {setting}");
}
