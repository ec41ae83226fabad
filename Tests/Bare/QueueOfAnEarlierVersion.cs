using Kit.Modes;

namespace Kit.Tests.Bare;

/// <summary>A queue's table that lacks what this version needs.</summary>
[Parallelizable]
public sealed class QueueOfAnEarlierVersion
{
    [Test]
    public async Task The_endpoint_refuses_to_start_and_names_the_statement_that_upgrades_it()
    {
        await using var bench = await BareBench.CreateAsync();
        await TestDatabases.ExecuteAsync(bench.Databases.Queue, "ALTER TABLE work DROP COLUMN not_before");
        using var host = bench.Build(TransactionMode.DtcOff, (_, _) => Task.CompletedTask);

        var refusal = Assert.ThrowsAsync<InvalidOperationException>(() => host.StartAsync())!.Message;

        Assert.That(refusal, Does.Contain("ALTER TABLE \"work\" ADD COLUMN not_before"));
        await TestDatabases.ExecuteAsync(bench.Databases.Queue, refusal[refusal.IndexOf("ALTER TABLE", StringComparison.Ordinal)..]);
        Assert.That(await bench.HandleAsync(TransactionMode.DtcOff, (_, _) => Task.CompletedTask), Is.Empty);
    }

    [Test]
    public async Task Without_an_error_table_the_endpoint_refuses_to_start()
    {
        await using var bench = await BareBench.CreateAsync();
        await TestDatabases.ExecuteAsync(bench.Databases.Queue, "DROP TABLE work_error");
        using var host = bench.Build(TransactionMode.DtcOff, (_, _) => Task.CompletedTask);

        Assert.ThrowsAsync<InvalidOperationException>(() => host.StartAsync(), "cannot insert into the error table");
    }
}
