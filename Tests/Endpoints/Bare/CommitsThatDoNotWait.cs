using Kit.Endpoints.Bare;
using Kit.Modes;
using Kit.Tests.RabbitMq;

namespace Kit.Tests.Bare;

/// <summary>
/// The handlers' role or the handler itself has <c>synchronous_commit = off</c>, and the queue can be on another server, which forgets the message after the
/// commit: the endpoint's commit waits for the log all the same. Where each statement commits by itself, a warning says so.
/// </summary>
[Parallelizable]
public sealed class CommitsThatDoNotWait
{
    private const string Off = ";Options=-c synchronous_commit=off";

    // It runs with COMMIT, and notes what holds of that.
    private const string NoteCommits =
        """
        CREATE TABLE noted (waits text NOT NULL);
        CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS
            $$BEGIN INSERT INTO noted VALUES (current_setting('synchronous_commit')); RETURN NULL; END$$;
        CREATE CONSTRAINT TRIGGER note AFTER INSERT ON widget DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION note();
        """;

    private static IEnumerable<TransactionMode> Once => [TransactionMode.DtcOff, TransactionMode.Outbox];

    private static IEnumerable<TransactionMode> EachStatement => RabbitMqBench.Modes.Where(mode => mode.RowCommit == RowCommit.EachStatement);

    [TestCaseSource(nameof(Once))]
    public async Task On_RabbitMQ_the_commit_waits(TransactionMode mode)
    {
        await using var bench = await RabbitMqBench.CreateAsync();
        await TestDatabases.ExecuteAsync(bench.Widgets, NoteCommits);
        await bench.PublishAsync("work", RabbitMqBench.Properties());
        using var host = bench.Build(mode, InsertAsync, configure: endpoint => endpoint.UseRabbitMq(bench.Address.Text, bench.Widgets + Off));

        await host.StartAsync();
        await Eventually.HoldsAsync(async () => await bench.Queue.CountAsync(CancellationToken.None) == 0, "the queue is empty");
        await host.StopAsync();

        Assert.That(await TestDatabases.ScalarAsync(bench.Widgets, "SELECT count(*)::int FROM noted WHERE waits = 'on'"), Is.EqualTo(1));
        Assert.That(bench.Warnings.Lines, Is.Empty);
    }

    [TestCaseSource(nameof(EachStatement))]
    public async Task On_RabbitMQ_statements_that_do_not_wait_are_warned_of(TransactionMode mode)
    {
        await using var bench = await RabbitMqBench.CreateAsync();
        using var host = bench.Build(mode, InsertAsync, configure: endpoint => endpoint.UseRabbitMq(bench.Address.Text, bench.Widgets + Off));

        await host.StartAsync();
        await host.StopAsync();

        Assert.That(bench.Warnings.Lines, Has.One.Contain("synchronous_commit = off").And.Contain("Set it to on."));
    }

    /// <summary>Whatever the addresses: behind a pooler, one address is two servers.</summary>
    [TestCase("dtc-off", 1)]
    [TestCase("dtc-off", 10)]
    [TestCase("outbox", 1)]
    public async Task On_PostgreSQL_the_commit_waits(string name, int batch)
    {
        var mode = TransactionMode.Parse(name);
        await using var bench = await BareBench.CreateAsync();
        await TestDatabases.ExecuteAsync(bench.Databases.Widgets, NoteCommits);
        await bench.HandleAsync(
            mode,
            InsertAsync,
            endpoint => endpoint.UsePostgreSql(bench.Databases.QueueOf(mode), bench.Databases.Widgets + Off).ReceiveInBatches(batch));

        Assert.That(await TestDatabases.ScalarAsync(bench.Databases.Widgets, "SELECT count(*)::int FROM noted WHERE waits = 'on'"), Is.EqualTo(1));
    }

    private static async Task InsertAsync(MessageContext context, CancellationToken cancellationToken)
    {
        await BareBench.ExecuteAsync(context, "SET LOCAL synchronous_commit TO off", cancellationToken);
        await BareBench.InsertRowAsync(context, cancellationToken);
    }
}
