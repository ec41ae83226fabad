using Kit.Endpoints.Bare;
using Kit.Endpoints.Bare.PostgreSql;
using Kit.Modes;
using Kit.Tests.Bare;

namespace Kit.Tests.Outbox;

/// <summary>How long <c>outbox</c> recognizes a message that comes again.</summary>
[Parallelizable]
public sealed class IdsOfHandledMessages
{
    private const string Young = "00000000-0000-0000-0000-000000000001";
    private const string Waiting = "00000000-0000-0000-0000-000000000002";

    private BareBench bench = null!;

    [SetUp]
    public async Task SetUp() => bench = await BareBench.CreateAsync();

    [TearDown]
    public async Task TearDown() => await bench.DisposeAsync();

    [Test]
    public async Task Older_ones_are_deleted_unless_a_send_waits()
    {
        using var host = bench.Build(TransactionMode.Outbox, (_, _) => Task.CompletedTask, configure: Keep);
        await host.StartAsync();
        await TestDatabases.ExecuteAsync(
            bench.Databases.Widgets,
            $"""
            INSERT INTO work_inbox SELECT gen_random_uuid(), now() - interval '2 hours' FROM generate_series(1, 2500);
            INSERT INTO work_inbox VALUES ('{Young}', now()), ('{Waiting}', now() - interval '2 hours');
            INSERT INTO work_outbox VALUES ('{Waiting}', 1, gen_random_uuid(), 'nowhere', 'a type', '')
            """);

        await Eventually.HoldsAsync(async () => await CountAsync("work_inbox") == 2, "the old ids are deleted");
        await host.StopAsync();

        Assert.That(await CountAsync($"work_inbox WHERE message_id IN ('{Young}', '{Waiting}')"), Is.EqualTo(2));
        Assert.That(await CountAsync("work_outbox"), Is.EqualTo(1));
    }

    [Test]
    public async Task Without_a_retention_all_are_kept()
    {
        await using var sink = new PostgreSqlQueue(bench.Databases.QueueOf(TransactionMode.Outbox), "built");
        await sink.CreateAsync(CancellationToken.None);
        using var host = bench.Build(TransactionMode.Outbox, (_, _) => Task.CompletedTask, configure: OftenSearched);
        await host.StartAsync();

        // A search deletes after it has dispatched: the one before the last send has come to its end.
        for (var search = 0; search < 2; search++)
        {
            await TestDatabases.ExecuteAsync(
                bench.Databases.Widgets,
                """
                WITH handled AS (INSERT INTO work_inbox VALUES (gen_random_uuid(), '2000-01-01') RETURNING message_id)
                INSERT INTO work_outbox SELECT message_id, 1, gen_random_uuid(), 'built', 'a type', '' FROM handled
                """);
            await Eventually.HoldsAsync(async () => await CountAsync("work_outbox") == 0, "the send is dispatched");
        }

        await host.StopAsync();

        Assert.That(await CountAsync("work_inbox"), Is.EqualTo(2));
    }

    [Test]
    public async Task An_inbox_of_an_earlier_version_needs_an_index_first()
    {
        await bench.RestartAsync(TransactionMode.Outbox);

        var refusal = await bench.RefusalOfAsync(TransactionMode.Outbox, Keep);

        Assert.That(refusal, Does.Contain("KeepHandledIdsFor"));
        await TestDatabases.ExecuteAsync(bench.Databases.Widgets, refusal[refusal.IndexOf("CREATE INDEX", StringComparison.Ordinal)..]);
        using var host = bench.Build(TransactionMode.Outbox, (_, _) => Task.CompletedTask, configure: Keep);
        Assert.That(() => host.StartAsync(), Throws.Nothing);
        await host.StopAsync();
    }

    [Test]
    public void Another_mode_has_none_to_keep()
    {
        using var host = bench.Build(TransactionMode.DtcOff, (_, _) => Task.CompletedTask, configure: Keep);

        Assert.That(() => host.StartAsync(), Throws.TypeOf<NotSupportedException>().With.Message.Contains("KeepHandledIdsFor"));
    }

    private static void Keep(BareEndpointBuilder endpoint)
    {
        OftenSearched(endpoint);
        endpoint.KeepHandledIdsFor(TimeSpan.FromHours(1));
    }

    private static void OftenSearched(BareEndpointBuilder endpoint) =>
        endpoint.OutboxSchedule = new OutboxSchedule(Interval: TimeSpan.FromMilliseconds(300), Grace: TimeSpan.FromMilliseconds(50));

    private Task<int> CountAsync(string rows) => TestDatabases.ScalarAsync(bench.Databases.Widgets, $"SELECT count(*)::int FROM {rows}");
}
