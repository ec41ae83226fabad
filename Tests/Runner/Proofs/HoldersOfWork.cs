using System.Text.Json;
using Kit.Prove.Files;
using Kit.Prove.Service;
using Kit.Runner.Wire;
using Npgsql;
using RabbitMQ.Client;
using RabbitMQ.Client.Events;

namespace Kit.Tests.Proofs;

/// <summary>What holds work that is left, on real servers.</summary>
[Parallelizable]
public sealed class HoldersOfWork
{
    private readonly SharedProofServers shared = new();
    private readonly Guid message = Guid.CreateVersion7();

    [OneTimeTearDown]
    public ValueTask StopServersAsync() => shared.DisposeAsync();

    [Test]
    public async Task Sessions_and_prepared_transactions_and_locks_are_told()
    {
        PostgreSqlServer.IgnoreWithoutPrograms();
        await using var bed = await BedOfAsync(WithTable);
        await using var holder = await ConnectAsync(bed, $"BEGIN; UPDATE job SET n = 1 WHERE id = '{message}'; SELECT pg_advisory_lock(42)");
        await using var waiter = await ConnectAsync(bed, "SELECT 1");
        await using var waits = new NpgsqlCommand("DELETE FROM job", waiter) { CommandTimeout = 0 };
        var waiting = waits.ExecuteNonQueryAsync();
        await using var preparer = await ConnectAsync(bed, "BEGIN; INSERT INTO job VALUES (gen_random_uuid(), 2); PREPARE TRANSACTION 'left-behind'");
        IReadOnlyList<string> lines = [];

        await Eventually.HoldsAsync(
            async () =>
            {
                lines = await new HeldWork(WithTable, bed).ReadAsync([message], DateTime.UtcNow, CancellationToken.None);
                return lines.Count == 3 && lines[2].StartsWith("a session has been idle", StringComparison.Ordinal);
            },
            "the session has been idle for five seconds");

        Assert.That(lines[0], Does.Match(
            "^\"DELETE FROM job\" has waited [0-9]+ s for a lock of a session that has been idle in its transaction, which is open for [0-9]+ s, after \""));
        Assert.That(lines[1], Does.Match("^transaction 'left-behind' has been prepared for [0-9]+ s, and nobody ends it$"));
        Assert.That(lines[2], Does.Contain("of a process before the last start"));

        await using (var rollback = new NpgsqlCommand("ROLLBACK", holder))
            await rollback.ExecuteNonQueryAsync();
        await waiting;
        await using (var end = new NpgsqlCommand("ROLLBACK PREPARED 'left-behind'", preparer))
            await end.ExecuteNonQueryAsync();
        Assert.That(
            await new HeldWork(WithTable, bed).ReadAsync([message], DateTime.UtcNow, CancellationToken.None),
            Has.One.Match("^advisory lock 42 is held by a session that has been open for [0-9]+ s, of a process before the last start$"));
    }

    /// <summary>What was read before the lock is not gone.</summary>
    [Test]
    public async Task A_lock_on_the_table_of_an_effect_is_told()
    {
        PostgreSqlServer.IgnoreWithoutPrograms();
        await using var bed = await BedOfAsync(WithTable);
        var effects = new EffectReader(WithTable, bed);
        await effects.ReadAsync(CancellationToken.None);
        await effects.ReadLeftAsync(CancellationToken.None);
        await using var holder = await ConnectAsync(bed, "BEGIN; LOCK TABLE job IN ACCESS EXCLUSIVE MODE");

        var found = await effects.ReadAsync(CancellationToken.None);
        var left = await effects.ReadLeftAsync(CancellationToken.None);

        Assert.That(found["row"], Is.EqualTo([$"{message}"]));
        Assert.That(left, Has.Count.EqualTo(3));
        Assert.That(left[1], Is.EqualTo("effect 'row' cannot be read: its table is locked"));
        await using (var rollback = new NpgsqlCommand("ROLLBACK", holder))
            await rollback.ExecuteNonQueryAsync();
        await effects.ReadAsync(CancellationToken.None);
        Assert.That(await effects.ReadLeftAsync(CancellationToken.None), Has.Count.EqualTo(1));
    }

    [Test]
    public async Task Unacknowledged_messages_and_consumers_are_told()
    {
        RabbitMqServer.IgnoreWithoutPrograms();
        await using var bed = await BedOfAsync(WithQueue);
        await bed.Queues.SendAsync("orders", message, $"{message}", "text/plain", new Dictionary<string, string>(), CancellationToken.None);
        await bed.Queues.SendAsync("orders", message, $"{message}", "text/plain", new Dictionary<string, string>(), CancellationToken.None);
        Assert.That(await ReadAsync(), Is.EqualTo(["queue 'orders' has 2 ready messages, 0 unacknowledged, and no consumer"]));

        await using var connection = await new ConnectionFactory { Uri = new Uri(bed.Direct.Fill("{{rabbitmq}}")) }.CreateConnectionAsync();
        await using var channel = await connection.CreateChannelAsync();
        await channel.BasicQosAsync(0, 1, global: false);
        await channel.BasicConsumeAsync("orders", autoAck: false, new AsyncEventingBasicConsumer(channel));
        IReadOnlyList<string> lines = [];
        await Eventually.HoldsAsync(
            async () => (lines = await ReadAsync())[0].Contains("1 unacknowledged", StringComparison.Ordinal), "the consumer has one message");

        Assert.That(lines, Is.EqualTo(["queue 'orders' has 1 ready message, 1 unacknowledged, and 1 consumer"]));

        Task<IReadOnlyList<string>> ReadAsync() => new HeldWork(WithQueue, bed).ReadAsync([message], DateTime.UtcNow, CancellationToken.None);
    }

    private ProofFile WithTable => FileWith(new
    {
        name = "held",
        databases = new[] { "orders" },
        setup = new { orders = $"CREATE TABLE job (id uuid, n int); INSERT INTO job VALUES ('{message}', 0)" },
        start = new { command = new[] { "sleep", "1" }, environment = new { DATABASE = "{{postgresql:orders:uri}}" } },
        send = new { database = "orders", sql = "INSERT INTO job VALUES ('{{id}}', 0)" },
        effects = new[] { new { name = "row", database = "orders", sql = "SELECT id FROM job" } },
        idle = new[] { new { database = "orders", sql = "SELECT count(*) FROM job" } },
        promise = "exactly-once",
    });

    private static ProofFile WithQueue => FileWith(new
    {
        name = "held",
        queues = new[] { "orders", "shipments" },
        start = new { command = new[] { "sleep", "1" }, environment = new { BROKER = "{{rabbitmq}}" } },
        send = new { queue = "orders", body = "{{id}}" },
        effects = new[] { new { name = "shipment", queue = "shipments" } },
        promise = "exactly-once",
    });

    private static ProofFile FileWith(object file) => ProofFileReader.Parse("held.proof.json", JsonSerializer.Serialize(file));

    private async Task<ProofBed> BedOfAsync(ProofFile file) =>
        await ProofBed.CreateAsync(file, await shared.GetAsync(file), new RequestGate(), CancellationToken.None);

    private static async Task<NpgsqlConnection> ConnectAsync(ProofBed bed, string sql)
    {
        var connection = new NpgsqlConnection($"{bed.Direct.Fill("{{postgresql:orders}}")};Pooling=false");
        await connection.OpenAsync();
        await using var command = new NpgsqlCommand(sql, connection);
        await command.ExecuteNonQueryAsync();
        return connection;
    }
}
