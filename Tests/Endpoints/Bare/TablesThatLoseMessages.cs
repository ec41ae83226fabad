using Kit.Modes;
using Microsoft.Extensions.Hosting;
using Npgsql;

namespace Kit.Tests.Bare;

/// <summary>Tables with every column, on which messages would be lost, doubled or never seen.</summary>
[Parallelizable]
public sealed class TablesThatLoseMessages
{
    private const string Password = "secret";
    private readonly string role = $"endpoint_{Guid.NewGuid():N}";
    private BareBench bench = null!;

    [SetUp]
    public async Task SetUp()
    {
        bench = await BareBench.CreateAsync();
        await bench.RestartAsync(TransactionMode.Outbox);
        await TestDatabases.ExecuteAsync(bench.Databases.Widgets, $"CREATE ROLE {role} LOGIN PASSWORD '{Password}'");
        foreach (var database in new[] { bench.Databases.Queue, bench.Databases.Widgets })
            await TestDatabases.ExecuteAsync(database, $"GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO {role}");
    }

    [TearDown]
    public async Task TearDown()
    {
        foreach (var database in new[] { bench.Databases.Queue, bench.Databases.Widgets })
            await TestDatabases.ExecuteAsync(database, $"DROP OWNED BY {role}");
        await TestDatabases.ExecuteAsync(bench.Databases.Widgets, $"DROP ROLE {role}");
        await bench.DisposeAsync();
    }

    [TestCase("ALTER TABLE work DROP CONSTRAINT work_pkey")]
    [TestCase("ALTER TABLE work DROP CONSTRAINT work_pkey; CREATE UNIQUE INDEX ON work (position) WHERE failed_attempts = 0")]
    [TestCase("ALTER TABLE work DROP CONSTRAINT work_pkey; CREATE UNIQUE INDEX ON work (position, message_id)")]
    [TestCase("ALTER TABLE work ENABLE ROW LEVEL SECURITY")]
    [TestCase("ALTER TABLE work_error ENABLE ROW LEVEL SECURITY")]
    [TestCase("REVOKE DELETE ON work FROM PUBLIC, {0}")]
    [TestCase("REVOKE UPDATE ON work FROM PUBLIC, {0}")]
    [TestCase("REVOKE INSERT ON work FROM PUBLIC, {0}")]
    [TestCase("REVOKE INSERT ON work_error FROM PUBLIC, {0}")]
    public Task A_queue_is_refused_with_the_statement_that_mends_it(string fault) => RefusesAsync(TransactionMode.DtcOff, bench.Databases.Queue, fault);

    [TestCase("ALTER TABLE work_outbox DROP CONSTRAINT work_outbox_causation_id_fkey; ALTER TABLE work_inbox DROP CONSTRAINT work_inbox_pkey")]
    [TestCase("ALTER TABLE work_outbox DROP CONSTRAINT work_outbox_pkey")]
    [TestCase("ALTER TABLE work_outbox SET UNLOGGED")]
    [TestCase("ALTER TABLE work_outbox DROP CONSTRAINT work_outbox_causation_id_fkey; ALTER TABLE work_outbox SET LOGGED; ALTER TABLE work_inbox SET UNLOGGED")]
    [TestCase("ALTER TABLE work_inbox ENABLE ROW LEVEL SECURITY")]
    [TestCase("REVOKE DELETE ON work_outbox FROM PUBLIC, {0}")]
    public Task The_same_of_an_outbox(string fault) => RefusesAsync(TransactionMode.Outbox, bench.Databases.Widgets, fault);

    /// <summary>A role without rights of its own on the tables, which the refusal names.</summary>
    private async Task RefusesAsync(TransactionMode mode, string database, string fault)
    {
        await TestDatabases.ExecuteAsync(database, fault.Replace("{0}", role, StringComparison.Ordinal));
        using (var host = Build(mode))
        {
            var refusal = (await Assert.ThrowsAsync<InvalidOperationException>(() => host.StartAsync()))!.Message;
            await TestDatabases.ExecuteAsync(database, refusal[(refusal.LastIndexOf(": ", StringComparison.Ordinal) + 2)..]);
        }

        using var mended = Build(mode);
        await mended.StartAsync();
        await mended.StopAsync();
    }

    private IHost Build(TransactionMode mode) =>
        bench.Build(mode, (_, _) => Task.CompletedTask, As(bench.Databases.Widgets), As(bench.Databases.Queue));

    private string As(string database) =>
        new NpgsqlConnectionStringBuilder(database) { Username = role, Password = Password, Pooling = false }.ConnectionString;
}
