using System.Diagnostics;
using System.Net;
using System.Net.Sockets;
using Kit.Runner.Measuring;
using Kit.Runner.Wire;
using Npgsql;

namespace Kit.Tests.Faults;

/// <summary>A proxy that adds a round trip, and counts what clients ask PostgreSQL.</summary>
[Parallelizable]
public sealed class DistanceThroughAProxy
{
    private static readonly TimeSpan Far = TimeSpan.FromMilliseconds(25);

    [Test]
    public async Task Everything_arrives_late_in_order_and_to_the_end()
    {
        using var listener = new TcpListener(IPAddress.Loopback, 0);
        listener.Start();
        await using var proxy = new FaultProxy("127.0.0.1", PortOf(listener), new ProxiedNetwork { RoundTrip = Far });
        using var client = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp) { NoDelay = true };
        await client.ConnectAsync(IPAddress.Loopback, proxy.Port);
        using var server = await listener.AcceptSocketAsync();

        var start = Stopwatch.GetTimestamp();
        await ProxiedPair.SendAsync(client, "question");
        Assert.That(await ProxiedPair.ReadAsync(server, 8), Is.EqualTo("question"));
        await ProxiedPair.SendAsync(server, "answer");
        Assert.That(await ProxiedPair.ReadAsync(client, 6), Is.EqualTo("answer"));
        Assert.That(Stopwatch.GetElapsedTime(start), Is.GreaterThanOrEqualTo(Far));

        var pieces = Enumerable.Range(0, 200).Select(number => $"{number:000} ").ToList();
        foreach (var piece in pieces)
            await ProxiedPair.SendAsync(client, piece);
        client.Shutdown(SocketShutdown.Send);
        Assert.That(await ProxiedPair.ReadToEndAsync(server), Is.EqualTo(string.Concat(pieces)), "the end overtakes nothing");
    }

    [Test]
    public async Task Its_pings_say_how_far_it_is()
    {
        // So far, and for so long, that a pause of this process is short in the mean.
        var further = 10 * Far;
        var watch = Stopwatch.StartNew();
        await using var near = new PingMeter(ProxiedNetwork.Loopback);
        await using var far = new PingMeter(new ProxiedNetwork { RoundTrip = further });
        await Task.Delay(24 * further);

        var (loopback, distant) = (await near.StopAsync(), await far.StopAsync());
        var most = watch.Elapsed / further;

        using (Assert.EnterMultipleScope())
        {
            Assert.That(distant!.MeanMilliseconds, Is.GreaterThanOrEqualTo(further.TotalMilliseconds));
            Assert.That(distant.P99Milliseconds, Is.GreaterThanOrEqualTo(distant.MeanMilliseconds));
            Assert.That(loopback!.MeanMilliseconds, Is.LessThan(distant.MeanMilliseconds));
            Assert.That(distant.Pings, Is.InRange(1, most));
        }
    }

    /// <summary>The driver asks for encryption first, and the kit's server declines; the answer is no message of the protocol.</summary>
    [TestCase(SslMode.Disable)]
    [TestCase(SslMode.Prefer)]
    public async Task Statements_and_round_trips_are_counted(SslMode encryption)
    {
        await using var databases = await TestDatabases.CreateAsync();
        var sql = new SqlTraffic();
        var server = new NpgsqlConnectionStringBuilder(databases.Widgets) { Pooling = false, SslMode = encryption };
        await using var proxy = new FaultProxy(server.Host!, server.Port, new ProxiedNetwork { Watch = sql.Watch });
        (server.Host, server.Port) = ("127.0.0.1", proxy.Port);
        await using var connection = new NpgsqlConnection(server.ConnectionString);
        await connection.OpenAsync();
        Assert.That(sql.Count.IsEncrypted, Is.False, "the tests' server has no certificate");

        var before = sql.Count;
        await ExecuteAsync(connection, "SELECT 1");
        Assert.That(sql.Count - before, Is.EqualTo(new SqlCount(Statements: 1, RoundTrips: 1, IsEncrypted: false)));

        before = sql.Count;
        await ExecuteAsync(connection, "SELECT 1; SELECT 2; SELECT 3");
        Assert.That(sql.Count - before, Is.EqualTo(new SqlCount(3, 1, IsEncrypted: false)), "three statements, sent at once");

        before = sql.Count;
        await using (var transaction = await connection.BeginTransactionAsync())
        {
            await ExecuteAsync(connection, "SELECT repeat('C', 100000)");
            await transaction.CommitAsync();
        }

        Assert.That(sql.Count - before, Is.EqualTo(new SqlCount(3, 2, IsEncrypted: false)), "BEGIN goes with the query; what is in an answer is not counted");
    }

    [Test]
    public async Task An_encrypted_connection_is_called_so()
    {
        using var listener = new TcpListener(IPAddress.Loopback, 0);
        listener.Start();
        var sql = new SqlTraffic();
        await using var proxy = new FaultProxy("127.0.0.1", PortOf(listener), new ProxiedNetwork { Watch = sql.Watch });
        using var client = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
        await client.ConnectAsync(IPAddress.Loopback, proxy.Port);
        using var server = await listener.AcceptSocketAsync();

        // SSLRequest, and the answer of a server that encrypts.
        await client.SendAsync(new byte[] { 0, 0, 0, 8, 4, 210, 22, 47 });
        await ProxiedPair.ReadAsync(server, 8);
        await ProxiedPair.SendAsync(server, "S");
        await ProxiedPair.ReadAsync(client, 1);

        Assert.That(sql.Count.IsEncrypted);
    }

    private static int PortOf(TcpListener listener) => ((IPEndPoint)listener.LocalEndpoint).Port;

    private static async Task ExecuteAsync(NpgsqlConnection connection, string statements)
    {
        await using var command = new NpgsqlCommand(statements, connection);
        await command.ExecuteNonQueryAsync();
    }
}
