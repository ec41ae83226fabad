using Kit.Endpoints.Bare;
using Kit.Endpoints.Bare.RabbitMq;
using Kit.Endpoints.Cells;
using Kit.Handlers;
using Microsoft.Extensions.Hosting;
using RabbitMQ.Client;
using RabbitMQ.Client.Events;

namespace Kit.Tests.RabbitMq;

/// <summary>
/// A quorum queue's delivery limit: 3 here, by a policy; 20 from RabbitMQ 4.0 on where nobody sets one. A delivery that nobody began
/// counts, too.
/// </summary>
[Parallelizable]
public sealed class BrokerGivesAMessageUp
{
    private const int Limit = 3;

    private TestVirtualHost broker = null!;

    private string QuorumSettings => new RabbitMqTransportSettings(RabbitMqAddress.Parse(broker.Address), QueueType.Quorum).Text;

    [SetUp]
    public async Task SetUp()
    {
        broker = await TestVirtualHost.CreateAsync();
        await broker.SetPolicyAsync("^work", $$"""{"delivery-limit": {{Limit}}}""");
    }

    [TearDown]
    public async Task TearDown() => await broker.DisposeAsync();

    [TestCase("work")]
    [TestCase("work_retry")]
    public async Task What_was_only_prefetched_when_connections_died_ends_in_the_error_queue(string name)
    {
        await using var queue = new RabbitMqQueue(RabbitMqAddress.Parse(broker.Address), "work", QueueType.Quorum);
        await queue.CreateAsync(CancellationToken.None);
        var message = Guid.CreateVersion7();
        await queue.EnqueueAsync([OutgoingMessage.Create(name, "any", message)], CancellationToken.None);

        await PrefetchTooOftenAsync(name);

        await Eventually.HoldsAsync(async () => (await queue.ReadMessagesAsync(CancellationToken.None)).Count == 0, "the broker gave it up");
        await Eventually.HoldsAsync(async () => (await queue.ReadErrorsAsync(CancellationToken.None)).Count > 0, "it is in the error queue");
        var error = (await queue.ReadErrorsAsync(CancellationToken.None)).Single();
        Assert.That(error.MessageId, Is.EqualTo(message));
        Assert.That(error.Reason, Does.Contain("The broker gave the message up").And.Contain("delivery_limit").And.Contain($"'{name}'"));
    }

    [Test]
    public async Task With_MassTransit_too()
    {
        var cell = Cell.All.Single(cell => cell.Name == "masstransit.rabbitmq.scope-off.ado");
        await using var databases = await TestDatabases.CreateAsync();
        await using var queue = cell.Kind.OpenQueue("work", QuorumSettings);
        await queue.CreateAsync(CancellationToken.None);
        // Its start makes the error queue. Before that the broker keeps what it gives up, and tries to dead-letter it again every 3
        // minutes.
        await StartAsync(cell, databases.Widgets);
        var message = new BuildWidget(Guid.CreateVersion7());
        await queue.PreloadAsync([message], CancellationToken.None);

        await PrefetchTooOftenAsync("work");

        await Eventually.HoldsAsync(async () => (await queue.ReadErrorsAsync(CancellationToken.None)).Count > 0, "it is in the error queue");
        var error = (await queue.ReadErrorsAsync(CancellationToken.None)).Single();
        Assert.That(error, Has.Property("MessageId").EqualTo(message.MessageId).And.Property("FailedAttempts").Null);
        Assert.That(error.Reason, Does.Contain("The broker gave the message up"));
    }

    /// <summary>Starts an endpoint, and stops it.</summary>
    private async Task StartAsync(Cell cell, string widgets)
    {
        var host = Host.CreateEmptyApplicationBuilder(settings: null);
        var settings = new EndpointSettings("work", QuorumSettings, widgets, cell.Mode, Concurrency: 1);
        cell.Kind.AddEndpoint(host.Services, settings, (_, _, _) => Task.CompletedTask);
        var endpoint = host.Build();
        await using ((IAsyncDisposable)endpoint)
        {
            await endpoint.StartAsync();
            await endpoint.StopAsync();
        }
    }

    private async Task PrefetchTooOftenAsync(string queue)
    {
        for (var delivery = 0; delivery <= Limit; delivery++)
            await PrefetchAndDieAsync(RabbitMqAddress.Parse(broker.Address), queue);
    }

    private static async Task PrefetchAndDieAsync(RabbitMqAddress address, string queue)
    {
        await using var connection = await Broker.ConnectAsync(address, "dies", CancellationToken.None);
        await using var channel = await connection.CreateChannelAsync();
        var prefetched = new TaskCompletionSource();
        var consumer = new AsyncEventingBasicConsumer(channel);
        consumer.ReceivedAsync += (_, _) =>
        {
            prefetched.TrySetResult();
            return Task.CompletedTask;
        };
        await channel.BasicConsumeAsync(queue, autoAck: false, consumer);
        await prefetched.Task.WaitAsync(Eventually.Limit);
        await connection.AbortAsync();
    }
}
