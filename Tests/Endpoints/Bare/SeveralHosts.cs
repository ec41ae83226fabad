using Kit.Endpoints.Bare;
using Kit.Endpoints.Bare.RabbitMq;
using Kit.Modes;
using Kit.Tests.RabbitMq;
using Npgsql;

namespace Kit.Tests.Bare;

/// <summary>Addresses that name the servers of one cluster. Here one of the two is away.</summary>
[Parallelizable]
public sealed class SeveralHosts
{
    private const string Away = "127.0.0.1:9";

    [TestCase("shared")]
    [TestCase("dtc-off")]
    [TestCase("outbox")]
    public async Task The_endpoint_finds_the_primary(string name)
    {
        var mode = TransactionMode.All.Single(mode => mode.Name == name);
        await using var bench = await BareBench.CreateAsync();

        var errors = await bench.HandleAsync(
            mode, BareBench.InsertRowAsync, endpoint => endpoint.UsePostgreSql(Behind(bench.Databases.QueueOf(mode)), Behind(bench.Databases.Widgets)));

        Assert.That(errors, Is.Empty);
        Assert.That(await TestDatabases.ScalarAsync(bench.Databases.Widgets, "SELECT count(*)::int FROM widget"), Is.EqualTo(1));
    }

    [TestCase("Host=a,b", null)]
    [TestCase("Host=a,b;Target Session Attributes=any", null)]
    [TestCase("Host=a,b;Target Session Attributes=prefer-standby", null)]
    [TestCase("Host=a,b;Target Session Attributes=primary", 1)]
    [TestCase("Host=a,b;Target Session Attributes=read-write;Host Recheck Seconds=30", 30)]
    [TestCase("Host=a", 10)]
    public async Task One_that_may_lead_to_a_standby_is_refused_and_a_host_is_soon_looked_at_again(string text, int? recheck)
    {
        await using var given = NpgsqlDataSource.Create(text);
        if (recheck is null)
        {
            Assert.That(() => new DatabaseAccess(text), Throws.ArgumentException.With.Message.Contains("Target Session Attributes=primary"));
            Assert.That(() => new DatabaseAccess(given), Throws.ArgumentException.With.Message.Contains("Target Session Attributes=primary"));
            return;
        }

        Assert.That(new DatabaseAccess(text).Settings.HostRecheckSeconds, Is.EqualTo(recheck));
        Assert.That(new DatabaseAccess(given).IsGiven, Is.True);
    }

    /// <summary>It does not say what it looks for.</summary>
    [TestCase("Host=a,b", false)]
    [TestCase("Host=a,b;Target Session Attributes=primary", true)]
    public async Task A_data_source_that_looks_for_a_target_must_have_it_in_its_connection_string(string text, bool isAccepted)
    {
        await using var multi = new NpgsqlDataSourceBuilder(text).BuildMultiHost();
        await using var primary = multi.WithTargetSession(TargetSessionAttributes.Primary);

        Assert.That(
            () => new DatabaseAccess(primary),
            isAccepted ? Throws.Nothing : Throws.ArgumentException.With.Message.Contains("does not show WithTargetSession"));
    }

    [Test]
    public async Task Each_connection_finds_a_node_of_the_broker()
    {
        await using var bench = await RabbitMqBench.CreateAsync();
        await using var rows = await TestDatabases.CreateAsync();
        await bench.PublishAsync(RabbitMqBench.Endpoint, RabbitMqBench.Properties());
        var handled = 0;
        using var host = bench.Build(
            TransactionMode.DtcOff,
            (_, _) =>
            {
                Interlocked.Increment(ref handled);
                return Task.CompletedTask;
            },
            configure: endpoint => endpoint.UseRabbitMq(Behind(bench.Address), rows.Widgets));

        // The driver begins with a random one.
        await host.StartAsync();
        await Eventually.HoldsAsync(() => handled == 1, "it is handled");
        await host.StopAsync();
    }

    [TestCase("amqp://kit:p%40ss@one:5673,two,three:5675/v%2F1", "kit at one:5673, two:5672, three:5675, virtual host v/1", 3)]
    [TestCase("amqp://guest:rmq@mq,mq2/", "guest at mq:5672, mq2:5672, virtual host /", 2)]
    [TestCase("amqps://kit:secret@[::1]:1,[::2]/", "kit at [::1]:1, [::2]:5671, virtual host /", 2)]
    public void An_address_is_read_and_written(string text, string described, int nodes)
    {
        var address = RabbitMqAddress.Parse(text);

        Assert.That(address.ToString(), Does.StartWith(described));
        Assert.That(address.Nodes, Is.EqualTo(nodes));
        Assert.That(RabbitMqAddress.Parse(address.Text).ToString(), Is.EqualTo(address.ToString()));
        Assert.That(address.In("other").ToString(), Is.EqualTo($"{described[..described.IndexOf(", virtual", StringComparison.Ordinal)]}, virtual host other"));
        Assert.That(address.In("other").Management, Is.EqualTo(address.Management));
    }

    /// <summary>The management plugin is sent the password.</summary>
    [TestCase("amqp://one,two", "http://one:15672/")]
    [TestCase("amqps://one,two", "https://one:15671/")]
    [TestCase("amqps://one?management=http://two:80", "http://two/")]
    public void The_management_plugin_is_asked_with_TLS_if_the_broker_is(string text, string management) =>
        Assert.That(RabbitMqAddress.Parse(text).Management.AbsoluteUri, Is.EqualTo(management));

    [TestCase("amqp://one,,two")]
    [TestCase("amqp://one:x,two")]
    [TestCase("amqp://one,two:99999")]
    public void One_that_cannot_be_read_is_refused(string text) =>
        Assert.That(() => RabbitMqAddress.Parse(text), Throws.TypeOf<BrokerException>().With.Message.Contains("several nodes"));

    private static string Behind(string connectionString)
    {
        var settings = new NpgsqlConnectionStringBuilder(connectionString) { TargetSessionAttributes = "primary" };
        settings.Host = $"{Away},{settings.Host}:{settings.Port}";
        return settings.ConnectionString;
    }

    private static string Behind(RabbitMqAddress address) =>
        address.Text.Replace(address.Amqp.Authority, $"{Away},{address.Amqp.Authority}", StringComparison.Ordinal);
}
