using Kit.Endpoints.Bare.RabbitMq;
using Kit.Endpoints.Cells;
using Microsoft.Extensions.Hosting;

namespace Kit.Tests.RabbitMq;

/// <summary>What is wrong with the broker or the queue is said at the start, whatever the framework.</summary>
[TestFixtureSource(typeof(RabbitMqCells), nameof(RabbitMqCells.All))]
[Parallelizable]
public sealed class EndpointCannotStart(Cell cell)
{
    private TestVirtualHost broker = null!;

    [SetUp]
    public async Task SetUp() => broker = await TestVirtualHost.CreateAsync();

    [TearDown]
    public async Task TearDown() => await broker.DisposeAsync();

    [Test]
    public async Task Queue_there_with_other_arguments()
    {
        await using (var other = new RabbitMqQueue(RabbitMqAddress.Parse(broker.Address), cell.Name, QueueType.Quorum))
            await other.CreateAsync(CancellationToken.None);

        Assert.That(await FailureAsync(broker.Address), Does.Contain(cell.Name).And.Contain("already exists, and not as a durable classic queue"));
    }

    [Test]
    public async Task Wrong_password_is_said_without_repeating_it()
    {
        var address = RabbitMqAddress.Parse(broker.Address);
        var wrong = $"{new UriBuilder(address.Amqp) { Password = "guessed" }.Uri.AbsoluteUri}?management={address.Management}";

        Assert.That(await FailureAsync(wrong), Does.Contain("refuses this user or password").And.Not.Contain("guessed"));
    }

    [Test]
    public async Task No_such_virtual_host()
    {
        var address = RabbitMqAddress.Parse(broker.Address);
        var nowhere = address.In("nowhere").Text;

        Assert.That(await FailureAsync(nowhere), Does.Contain("nowhere"));
    }

    [Test]
    public async Task No_broker() =>
        // Nobody listens on the port of the discard protocol.
        Assert.That(await FailureAsync("amqp://127.0.0.1:9/"), Does.Contain("No RabbitMQ broker answers: guest at 127.0.0.1:9, virtual host /"));

    private async Task<string> FailureAsync(string address)
    {
        await using var databases = await TestDatabases.CreateAsync();
        var host = Host.CreateEmptyApplicationBuilder(settings: null);
        cell.Kind.AddEndpoint(
            host.Services, new EndpointSettings(cell.Name, address, databases.Widgets, cell.Mode, Concurrency: 2), (_, _, _) => Task.CompletedTask);
        var built = host.Build();
        await using ((IAsyncDisposable)built)
            return (await Assert.ThrowsAsync<BrokerException>(() => built.StartAsync()))!.Message;
    }
}
