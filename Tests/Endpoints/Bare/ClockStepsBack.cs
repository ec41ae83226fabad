using Kit.Endpoints.Bare.PostgreSql.TwoPhase;
using Kit.Modes;
using Kit.Tests.TwoPhase;
using Microsoft.Extensions.Logging.Abstractions;
using Npgsql;

namespace Kit.Tests.Bare;

/// <summary>The server's clock steps back by an hour.</summary>
[Parallelizable]
public sealed class ClockStepsBack
{
    private const string Backwards =
        """
        CREATE SCHEMA stepped;
        CREATE FUNCTION stepped.clock_timestamp() RETURNS timestamptz LANGUAGE sql AS $$ SELECT pg_catalog.clock_timestamp() - interval '1 hour' $$
        """;

    [Test]
    public async Task A_branch_that_was_prepared_in_the_future_is_recovered()
    {
        await using var databases = await TestDatabases.CreateAsync();
        await TestDatabases.ExecuteAsync(databases.Widgets, Backwards);
        await using var queues = NpgsqlDataSource.Create(databases.Queue);
        var queue = await QueueDatabase.ReadAsync(queues, CancellationToken.None);
        await using var widgets = NpgsqlDataSource.Create(
            new NpgsqlConnectionStringBuilder(databases.Widgets) { SearchPath = "stepped, pg_catalog, public" });
        foreach (var olderThan in new[] { TimeSpan.Zero, TimeSpan.FromSeconds(5) })
        {
            var branch = new ReceivesAsDecisions(queue).BranchOf(await queues.DecideAsync("COMMIT"));
            await TestDatabases.ExecuteAsync(databases.Widgets, $"BEGIN; CREATE TABLE held (id int); DROP TABLE held; {branch.Prepare}");

            var recovery = new Recovery(widgets, new ReceivesAsDecisions(queue), NullLogger.Instance);
            Assert.That(await recovery.RunAsync(olderThan, CancellationToken.None), Is.EqualTo(1), $"{olderThan}");
        }
    }

    [Test]
    public async Task A_message_that_was_put_back_for_the_future_is_due()
    {
        await using var bench = await BareBench.CreateAsync();
        await TestDatabases.ExecuteAsync(bench.Databases.Queue, "ALTER TABLE work ALTER not_before SET DEFAULT now() + interval '1 hour'");

        Assert.That(await bench.HandleAsync(TransactionMode.DtcOff, (_, _) => Task.CompletedTask), Is.Empty);
    }
}
