using System.Collections.Concurrent;
using Kit.Endpoints.Bare.PostgreSql;
using Kit.Modes;

namespace Kit.Tests.Bare;

/// <summary>The server refuses the first commit of a message's receive, and the session lives.</summary>
[Parallelizable]
public sealed class ReceiveDoesNotCommit
{
    private BareBench bench = null!;

    /// <summary>Those in which the endpoint commits the receive after the handler, and counts a failure; each with and without the next receive.</summary>
    private static IEnumerable<TestCaseData> Cases =>
        from mode in BareBench.Modes
        where mode.CommitOrder.IsMessageLeftInHandler && mode != TransactionMode.NpgsqlScope && mode != TransactionMode.Outbox
        from ahead in new[] { false, true }
        where !ahead || PostgreSqlSupport.ReceivingAhead(mode, LogFlush.Every, batchSize: 1).IsSupported
        select new TestCaseData(mode, ahead);

    [SetUp]
    public async Task SetUp() => bench = await BareBench.CreateAsync();

    [TearDown]
    public async Task TearDown() => await bench.DisposeAsync();

    [ModeSource(nameof(Cases))]
    public async Task The_attempt_is_counted_and_the_next_one_commits(TransactionMode mode, bool ahead)
    {
        await TestDatabases.ExecuteAsync(
            bench.Databases.QueueOf(mode),
            """
            CREATE SEQUENCE tries;
            CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$
            BEGIN
                IF nextval('tries') = 1 THEN RAISE 'not the first time'; END IF;
                RETURN NULL;
            END $$;
            CREATE CONSTRAINT TRIGGER refuse AFTER DELETE ON work DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION refuse()
            """);
        var attempts = new ConcurrentQueue<int>();

        var errors = await bench.HandleAsync(
            mode,
            async (context, cancellationToken) =>
            {
                attempts.Enqueue(context.Attempt);
                await BareBench.InsertRowAsync(context, cancellationToken);
            },
            endpoint => endpoint.ReceiveAhead(ahead));

        Assert.That(errors, Is.Empty);
        Assert.That(attempts, Is.EqualTo([1, 2]));
        Assert.That(await bench.Databases.CountPreparedAsync(), Is.Zero);
        Assert.That(await bench.Databases.CountRowsAsync(), Is.EqualTo(mode == TransactionMode.DtcOff || mode == TransactionMode.ScopeOff ? 2 : 1));
    }
}
