using Kit.Runner.Wire;
using Npgsql;

namespace Kit.Tests.Faults;

/// <summary>PostgreSQL behind the proxy: what the driver makes of its faults, and what the server does.</summary>
[Parallelizable]
public sealed class DatabaseBehindAProxy
{
    private TestDatabases databases = null!;
    private FaultProxy proxy = null!;
    private NpgsqlConnection connection = null!;
    private int session;

    [SetUp]
    public async Task Connect()
    {
        databases = await TestDatabases.CreateAsync();
        // In plain text from the first byte, and no second try with less encryption.
        var server = new NpgsqlConnectionStringBuilder(databases.Widgets)
        {
            Pooling = false,
            SslMode = SslMode.Disable,
            GssEncryptionMode = GssEncryptionMode.Disable,
        };
        proxy = new FaultProxy(server.Host!, server.Port);
        connection = new NpgsqlConnection(
            new NpgsqlConnectionStringBuilder(server.ConnectionString) { Host = "127.0.0.1", Port = proxy.Port }.ConnectionString);
        await connection.OpenAsync();
        session = connection.ProcessID;
    }

    [TearDown]
    public async Task Disconnect()
    {
        if (databases is null)
            return;

        await connection.DisposeAsync();
        await proxy.DisposeAsync();
        await databases.DisposeAsync();
    }

    [TestCase(Ending.Cut)]
    [TestCase(Ending.Reset)]
    public async Task Cut_in_a_query_it_fails(Ending how)
    {
        var query = ExecuteAsync("SELECT pg_sleep(60)");
        await RunningAsync();

        Assert.That(await proxy.EndAllAsync(how), Is.EqualTo(1));

        Assert.That(async () => await query.WaitAsync(Eventually.Limit), Throws.InstanceOf<NpgsqlException>().And.Not.InstanceOf<PostgresException>());
    }

    [TestCase(Traffic.ToServer)]
    [TestCase(Traffic.ToClient)]
    [TestCase(Traffic.Both)]
    public async Task Stalled_and_resumed_a_query_completes(Traffic traffic)
    {
        Assert.That(proxy.Stall(traffic), Is.EqualTo(1));
        var insert = ExecuteAsync(Insert);
        await Task.Delay(200);
        Assert.That(insert.IsCompleted, Is.False);

        Assert.That(proxy.Resume(traffic), Is.EqualTo(1));

        Assert.That(await insert.WaitAsync(Eventually.Limit), Is.EqualTo(1));
        Assert.That(await databases.CountRowsAsync(), Is.EqualTo(1));
    }

    [Test]
    public void Refused_it_cannot_connect()
    {
        proxy.RefuseConnections();

        Assert.That(
            async () => await new NpgsqlConnection(connection.ConnectionString).OpenAsync(), Throws.InstanceOf<NpgsqlException>());
        Assert.That(proxy.Refused, Is.EqualTo(1));
    }

    private static string Insert => $"INSERT INTO widget (id, message_id) VALUES ({Kit.Handlers.WidgetId.Next()}, gen_random_uuid())";

    private async Task<int> ExecuteAsync(string statement)
    {
        await using var command = new NpgsqlCommand(statement, connection);
        return await command.ExecuteNonQueryAsync();
    }

    private Task RunningAsync() => Eventually.HoldsAsync(() => SessionsAsync("state = 'active'", 1), "the server runs the query");

    private async Task<bool> SessionsAsync(string condition, int wanted) => await TestDatabases.ScalarAsync(
        databases.Queue, $"SELECT count(*)::int FROM pg_stat_activity WHERE pid = {session} AND {condition}") == wanted;
}
