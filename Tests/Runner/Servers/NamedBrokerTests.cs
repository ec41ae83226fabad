using System.Collections.Concurrent;
using System.Net.Http.Headers;
using System.Net.Http.Json;
using System.Text;
using Kit.Endpoints.Bare.RabbitMq;
using Kit.Endpoints.Cells;
using Kit.Runner.Machine;
using Kit.Runner.Results;
using Kit.Runner.Servers;
using Kit.Runner.Stage.Transports;
using Kit.Runner.Wire;
using Kit.Tests.CommandLine;

namespace Kit.Tests.Servers;

/// <summary>A broker that the user names, and what can be wrong with it.</summary>
[Parallelizable]
public sealed class NamedBrokerTests
{
    private const string Secret = "wrong-and-secret";

    private PrivateRabbitMq broker = null!;

    [OneTimeSetUp]
    public async Task GetBroker() => broker = await RabbitMqServer.GetAsync();

    [Test]
    public async Task A_wrong_password_is_said_and_not_shown()
    {
        var failure = await FailureAsync(With(uri => uri.Password = Secret));

        Assert.That(failure.Message, Does.StartWith("The broker refuses this user or password: kit at 127.0.0.1:"));
    }

    [Test]
    public async Task An_unknown_virtual_host_is_said()
    {
        var failure = await FailureAsync(With(uri => uri.Path = "nowhere"));

        Assert.That(failure.Message, Does.StartWith("The broker has no such virtual host: ").And.EndsWith("virtual host nowhere."));
    }

    [Test]
    public async Task A_broker_out_of_reach_is_said()
    {
        var failure = await FailureAsync(With(uri => uri.Port = 1));

        Assert.That(failure.Message, Does.StartWith("The RabbitMQ broker is out of reach: kit at 127.0.0.1:").And.Contains("refused"));
    }

    [Test]
    public async Task A_host_that_does_not_exist_is_said()
    {
        var failure = await FailureAsync($"amqp://kit:{Secret}@no-such-host.invalid");

        Assert.That(failure.Message, Does.StartWith("The RabbitMQ broker is out of reach: kit at no-such-host.invalid:5672, virtual host /"));
    }

    [Test]
    public async Task Something_else_that_listens_is_no_broker()
    {
        var failure = await FailureAsync(With(uri => uri.Port = broker.ManagementUri.Port));

        Assert.That(failure.Message, Does.StartWith("The RabbitMQ broker is out of reach: kit at 127.0.0.1:"));
    }

    [TestCase("amqp://kit:wrong-and-secret")]
    [TestCase("http://kit:wrong-and-secret@h")]
    [TestCase("amqp://kit:wrong-and-secret@h/a/b")]
    [TestCase("wrong-and-secret")]
    public async Task An_unreadable_uri_is_not_repeated(string text)
    {
        var failure = await FailureAsync(text);

        Assert.That(failure.Message, Does.StartWith("The RabbitMQ URI cannot be read."));
    }

    [Test]
    public async Task An_absent_management_plugin_says_what_is_lost()
    {
        var without = RabbitMqAddress.Parse(broker.AmqpUri.AbsoluteUri, "http://127.0.0.1:1");

        var failure = await Assert.ThrowsAsync<KitException>(() => RabbitMqFacts.RequireAsync(without, CancellationToken.None));

        Assert.That(failure!.Message, Does.Contain("The kit counts messages with it"));
        Assert.That(failure.Remedy, Does.Contain("rabbitmq-plugins enable rabbitmq_management"));
    }

    [Test]
    public async Task Who_is_no_administrator_gets_a_prefix()
    {
        var limited = await LimitedUserAsync();
        var facts = await RabbitMqFacts.RequireAsync(limited, CancellationToken.None);
        Assert.That(facts.Findings().Single(finding => finding.Problem is not null).Problem, Does.Contain("with a prefix"));
        string queue;
        await using (var space = await BrokerSpace.CreateAsync(limited, CancellationToken.None))
        {
            queue = space.NameOf("bare");
            await DeclareAsync(space.Address, queue);
            await DeclareAsync(space.Address, queue + "_error");
            Assert.Multiple(() =>
            {
                Assert.That(queue, Does.Match("^kit-[0-9a-f]{12}\\.bare$"));
                Assert.That(space.Address.VirtualHost, Is.EqualTo("kit"));
            });
        }

        Assert.That(await ExistsAsync(broker.Address, queue), Is.False);
        Assert.That(await ExistsAsync(broker.Address, queue + "_error"), Is.False);
    }

    [Test]
    public async Task An_own_virtual_host_is_made_and_removed()
    {
        string name;
        await using (var space = await BrokerSpace.CreateAsync(broker.Address, CancellationToken.None))
        {
            name = space.Address.VirtualHost;
            await DeclareAsync(space.Address, space.NameOf("bare"));
            Assert.Multiple(() =>
            {
                Assert.That(name, Does.StartWith("kit-"));
            });
            Assert.That(await VirtualHostsAsync(), Does.Contain(name));
        }

        Assert.That(await VirtualHostsAsync(), Does.Not.Contain(name));
    }

    [Test]
    public async Task Virtual_hosts_of_crashed_runs_are_removed_and_no_others()
    {
        using var management = new ManagementApi(broker.Address);
        var dead = OwnerMark.Text.Replace($":{ProcessIdentity.Current.Id},", ":999999999,", StringComparison.Ordinal);
        await management.CreateVirtualHostAsync("kit-dead", dead, CancellationToken.None);
        await management.CreateVirtualHostAsync("kit-live", OwnerMark.Text, CancellationToken.None);
        await management.CreateVirtualHostAsync("kit-of-somebody-else", "theirs", CancellationToken.None);
        await management.CreateVirtualHostAsync("other", dead, CancellationToken.None);

        Assert.That(await BrokerSpace.RemoveLeftoversAsync(broker.Address, CancellationToken.None), Has.Member(new Leftover("kit-dead")));

        Assert.That(await VirtualHostsAsync(), Does.Not.Contain("kit-dead").And.SupersetOf(new[] { "kit-live", "kit-of-somebody-else", "other" }));
        foreach (var name in new[] { "kit-live", "kit-of-somebody-else", "other" })
            await management.RemoveVirtualHostAsync(name, CancellationToken.None);
    }

    [Test]
    public async Task One_that_cannot_be_removed_is_named_and_stops_nothing()
    {
        using var management = new ManagementApi(broker.Address);
        var name = $"kit-{Guid.NewGuid():N}";
        await management.CreateVirtualHostAsync(
            name, OwnerMark.Text.Replace($":{ProcessIdentity.Current.Id},", ":999999999,", StringComparison.Ordinal), CancellationToken.None);
        await using var cut = new CutManagement(broker, $"DELETE /api/vhosts/{name}");

        var left = (await BrokerSpace.RemoveLeftoversAsync(cut.Through, CancellationToken.None)).Single(one => one.Name == name);

        Assert.That(
            left.ToString(), Does.StartWith($"The virtual host {name}, left by a crashed run, is still there: ").And.EndWith(" The next start tries again."));
        Assert.That(await BrokerSpace.RemoveLeftoversAsync(broker.Address, CancellationToken.None), Has.Member(new Leftover(name)));
    }

    [Test]
    public async Task A_virtual_host_without_permissions_is_not_left()
    {
        await using var cut = new CutManagement(broker, "PUT /api/permissions/");

        Assert.That(() => BrokerSpace.CreateAsync(cut.Through, CancellationToken.None), Throws.InstanceOf<HttpRequestException>());

        var made = cut.Requests.Select(request => request.Split(' ', '/')).Single(parts => parts is ["PUT", "", "api", "vhosts", ..])[4];
        Assert.That(made, Does.StartWith("kit-"));
        Assert.That(await VirtualHostsAsync(), Has.No.Member(made));
    }

    [Test]
    public async Task A_named_broker_is_asked_by_the_doctor()
    {
        var rabbitMq = Transport.Named(TransportName.RabbitMq);
        var named = rabbitMq.Settings.Zip(
            [broker.AmqpUri.AbsoluteUri, broker.ManagementUri.AbsoluteUri], (setting, text) => (setting, (string?)text));

        var findings = await Doctor.ExamineAsync(
            new DoctorQuestion(TransportArguments.Of(named), [], Path.GetTempPath()), CancellationToken.None);

        Assert.Multiple(() =>
        {
            Assert.That(findings.Single(finding => finding.Name is "RabbitMQ broker").Found, Does.StartWith($"{broker.Version}, kit at 127.0.0.1:"));
            Assert.That(findings.Single(finding => finding.Name is "messages taken").Problem, Is.Null);
        });
    }

    [Test]
    public async Task A_broker_of_this_machine_is_not_asked_through_the_environments_proxy()
    {
        using var runner = RunnerProcess.Start(
            new Dictionary<string, string> { ["HTTP_PROXY"] = "http://127.0.0.1:1", ["http_proxy"] = "http://127.0.0.1:1" },
            RunnerProcess.ProgramPath,
            ["doctor", "--rabbitmq", broker.AmqpUri.AbsoluteUri, "--rabbitmq-management", broker.ManagementUri.AbsoluteUri]);
        var result = await runner.EndAsync();

        Assert.That(result.Output, Does.Match("ok +messages taken "), result.Errors);
    }

    private string With(Action<UriBuilder> change)
    {
        var uri = new UriBuilder(broker.AmqpUri);
        change(uri);
        return uri.Uri.AbsoluteUri;
    }

    private async Task<KitException> FailureAsync(string uri)
    {
        KitException? failure = null;
        try
        {
            await RabbitMqFacts.RequireAsync(NamedBroker.Parse(uri, management: null), CancellationToken.None);
        }
        catch (KitException thrown)
        {
            failure = thrown;
        }

        Assert.That(failure, Is.Not.Null);
        Assert.That(failure!.ToString() + failure.Remedy, Does.Not.Contain(Secret).And.Not.Contain(broker.Address.Password));
        return failure;
    }

    /// <summary>A user with the tag <c>management</c>, who may do all in the broker's first virtual host.</summary>
    private async Task<RabbitMqAddress> LimitedUserAsync()
    {
        using var http = new HttpClient { BaseAddress = broker.ManagementUri };
        http.DefaultRequestHeaders.Authorization = new AuthenticationHeaderValue(
            "Basic", Convert.ToBase64String(Encoding.UTF8.GetBytes($"{broker.Address.UserName}:{broker.Address.Password}")));
        using var user = await http.PutAsJsonAsync("api/users/limited", new { password = "limited", tags = "management" });
        user.EnsureSuccessStatusCode();
        using var permissions = await http.PutAsJsonAsync(
            $"api/permissions/{broker.Address.VirtualHost}/limited",
            new { configure = ".*", write = ".*", read = ".*" });
        permissions.EnsureSuccessStatusCode();
        return RabbitMqAddress.Parse(With(uri => (uri.UserName, uri.Password) = ("limited", "limited")), broker.ManagementUri.AbsoluteUri);
    }

    private async Task<IEnumerable<string>> VirtualHostsAsync()
    {
        using var management = new ManagementApi(broker.Address);
        return (await management.ReadVirtualHostsAsync(CancellationToken.None)).Select(host => host.Name);
    }

    private static async Task DeclareAsync(RabbitMqAddress broker, string queue)
    {
        await using var connection = await broker.ConnectAsync("test", Eventually.Limit, CancellationToken.None);
        await using var channel = await connection.CreateChannelAsync();
        await channel.QueueDeclareAsync(queue, durable: true, exclusive: false, autoDelete: false);
    }

    private static async Task<bool> ExistsAsync(RabbitMqAddress broker, string queue)
    {
        await using var connection = await broker.ConnectAsync("test", Eventually.Limit, CancellationToken.None);
        await using var channel = await connection.CreateChannelAsync();
        try
        {
            await channel.QueueDeclarePassiveAsync(queue);
            return true;
        }
        catch (RabbitMQ.Client.Exceptions.OperationInterruptedException)
        {
            return false;
        }
    }

    /// <summary>The way to a broker's management plugin, on which the connection ends with a request.</summary>
    private sealed class CutManagement : IAsyncDisposable
    {
        private readonly FaultProxy proxy;

        public CutManagement(PrivateRabbitMq broker, string fatal)
        {
            proxy = new FaultProxy(
                broker.ManagementUri.Host, broker.ManagementUri.Port, new ProxiedNetwork { Filter = sides => new Filter(this, fatal, sides) });
            Through = RabbitMqAddress.Parse(broker.AmqpUri.AbsoluteUri, $"http://127.0.0.1:{proxy.Port}");
        }

        public RabbitMqAddress Through { get; }

        public ConcurrentQueue<string> Requests { get; } = [];

        public ValueTask DisposeAsync() => proxy.DisposeAsync();

        private sealed class Filter(CutManagement way, string fatal, ConnectionSides sides) : IConnectionFilter
        {
            public void See(Traffic direction, ReadOnlySpan<byte> piece)
            {
                if (direction is Traffic.ToClient)
                {
                    sides.ToClient(piece.ToArray());
                    return;
                }

                var request = Encoding.ASCII.GetString(piece);
                way.Requests.Enqueue(request);
                if (request.StartsWith(fatal, StringComparison.Ordinal))
                    sides.Cut();
                else
                    sides.ToServer(piece.ToArray());
            }

            public void End()
            {
                // Nothing is held.
            }
        }
    }
}
