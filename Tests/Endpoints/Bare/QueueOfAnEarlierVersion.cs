using Kit.Modes;

namespace Kit.Tests.Bare;

/// <summary>Tables that lack what this version needs.</summary>
[Parallelizable]
public sealed class QueueOfAnEarlierVersion
{
    [TestCase("ALTER TABLE work DROP COLUMN not_before, DROP COLUMN headers")]
    [TestCase("ALTER TABLE work DROP COLUMN headers")]
    [TestCase("ALTER TABLE work_error DROP COLUMN headers")]
    public async Task The_endpoint_refuses_to_start_and_names_the_statement_that_upgrades_it(string earlier)
    {
        await using var bench = await BareBench.CreateAsync();
        await TestDatabases.ExecuteAsync(bench.Databases.Queue, earlier);

        var refusal = await bench.RefusalOfAsync(TransactionMode.DtcOff);

        await TestDatabases.ExecuteAsync(bench.Databases.Queue, refusal[refusal.IndexOf("ALTER TABLE", StringComparison.Ordinal)..]);
        Assert.That(await bench.HandleAsync(TransactionMode.DtcOff, (_, _) => Task.CompletedTask), Is.Empty);
    }

    [TestCase("headers")]
    [TestCase("is_event")]
    public async Task The_same_of_an_outbox(string column)
    {
        await using var bench = await BareBench.CreateAsync();
        await bench.RestartAsync(TransactionMode.Outbox);
        await TestDatabases.ExecuteAsync(bench.Databases.Widgets, $"ALTER TABLE work_outbox DROP COLUMN {column}");

        var refusal = await bench.RefusalOfAsync(TransactionMode.Outbox);

        await TestDatabases.ExecuteAsync(bench.Databases.Widgets, refusal[refusal.IndexOf("ALTER TABLE", StringComparison.Ordinal)..]);
        Assert.That(await bench.HandleAsync(TransactionMode.Outbox, (_, _) => Task.CompletedTask), Is.Empty);
    }

    [Test]
    public async Task An_error_table_that_the_queue_left_behind_is_no_exception()
    {
        await using var bench = await BareBench.CreateAsync();
        await TestDatabases.ExecuteAsync(bench.Databases.Queue, "DROP TABLE work; ALTER TABLE work_error DROP COLUMN headers");

        Assert.That(await bench.RefusalOfAsync(TransactionMode.DtcOff), Does.Contain("ALTER TABLE \"work_error\" ADD COLUMN"));
    }

    [Test]
    public async Task A_message_without_headers_is_sent_to_an_endpoint_that_has_none()
    {
        await using var bench = await BareBench.CreateAsync();
        await TestDatabases.ExecuteAsync(bench.Databases.Queue, "CREATE TABLE billing (message_id uuid, type text, body bytea)");

        var errors = await bench.HandleAsync(
            TransactionMode.DtcOff, (context, cancellationToken) => context.SendAsync("billing", "an invoice", cancellationToken: cancellationToken));

        Assert.That(errors, Is.Empty);
        Assert.That(await TestDatabases.ScalarAsync(bench.Databases.Queue, "SELECT count(*)::int FROM billing"), Is.EqualTo(1));
    }
}
