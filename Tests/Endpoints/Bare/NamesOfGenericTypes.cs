using System.Text.Json;
using Kit.Endpoints.Bare;
using Kit.Endpoints.Cells;
using Kit.Modes;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using RabbitMQ.Client;

namespace Kit.Tests.Bare;

/// <summary>Messages and events of generic types, whose full names in .NET hold versions of assemblies.</summary>
[Parallelizable]
public sealed class NamesOfGenericTypes
{
    private const string OldVersion = ", Version=0.0.7.0, Culture=neutral, PublicKeyToken=null";

    [Test]
    public void They_hold_no_version()
    {
        var message = OutgoingMessage.CreateEvent(new Envelope<IReadOnlyDictionary<string, Order[]>[]>([]));

        Assert.That(message.Type, Does.Contain(nameof(Envelope<>)).And.Contain(nameof(Order)).And.Not.Contain("Version").And.Not.Contain("PublicKeyToken"));
        Assert.That(message.Queue, Is.EqualTo(message.Type));
        Assert.That(OutgoingMessage.Create("work", new Order()).Type, Is.EqualTo(typeof(Order).FullName));
    }

    [TestCase("postgresql")]
    [TestCase("rabbitmq")]
    public async Task One_that_waits_under_a_name_of_an_older_assembly_is_handled(string transport)
    {
        await using var bench = await Bench.CreateAsync(transport);
        var body = JsonSerializer.SerializeToUtf8Bytes(new Envelope<Order>(new Order()));
        var id = Guid.CreateVersion7();
        var full = typeof(Envelope<Order>).FullName!;
        var old = $"{full[..full.IndexOf(", Version", StringComparison.Ordinal)]}{OldVersion}]]";
        await bench.Queue.EnqueueAsync([new OutgoingMessage("work", id, old, body)], CancellationToken.None);

        await bench.RunAsync((_, _) => Task.CompletedTask);

        Assert.That(await bench.Queue.ReadErrorsAsync(CancellationToken.None), Is.Empty);
    }

    [TestCase("postgresql")]
    [TestCase("rabbitmq")]
    public async Task A_queue_that_subscribed_under_such_a_name_gets_each_event_once(string transport)
    {
        await using var bench = await Bench.CreateAsync(transport);
        await using var both = bench.Open("both");
        await both.CreateAsync(CancellationToken.None);
        await using var earlier = bench.Open("earlier");
        await earlier.CreateAsync(CancellationToken.None);
        await both.SubscribeAsync(typeof(Envelope<Order>), CancellationToken.None);
        foreach (var queue in new[] { both, earlier })
            await bench.SubscribeAsEarlierAsync(queue.Name, typeof(Envelope<Order>).FullName!);
        var id = Guid.CreateVersion7();
        await bench.Queue.EnqueueAsync([OutgoingMessage.Create("work", new Envelope<Order>(new Order()), id)], CancellationToken.None);

        await bench.RunAsync((context, cancellationToken) => context.PublishAsync(new Envelope<Order>(new Order()), id, cancellationToken: cancellationToken));

        Assert.That(await bench.Queue.ReadErrorsAsync(CancellationToken.None), Is.Empty);
        foreach (var queue in new[] { both, earlier })
            Assert.That(await queue.ReadMessagesAsync(CancellationToken.None), Is.EqualTo(new[] { id }), queue.Name);
    }

    internal sealed record Order;

    internal sealed record Envelope<T>(T Content);

    /// <summary>A queue for such messages, and its endpoint, on one of the transports.</summary>
    private sealed class Bench(Cell cell, TestDatabases databases, TestTransport place) : IAsyncDisposable
    {
        public IMessageQueue Queue { get; } = cell.Kind.OpenQueue("work", place.Address);

        public static async Task<Bench> CreateAsync(string transport)
        {
            if (TestTransport.MissingServer(transport) is { } missing)
                Assert.Ignore(missing);
            var cell = Cell.Find($"bare.{transport}.dtc-off.ado")!;
            var databases = await TestDatabases.CreateAsync();
            var bench = new Bench(cell, databases, await TestTransport.OpenAsync(cell, databases));
            await bench.Queue.CreateAsync(CancellationToken.None);
            return bench;
        }

        public IMessageQueue Open(string name) => cell.Kind.OpenQueue(name, place.Address);

        /// <summary>What the kit wrote when its names had versions.</summary>
        public async Task SubscribeAsEarlierAsync(string queue, string type)
        {
            if (cell.Kind.Transport == TransportName.PostgreSql)
            {
                await TestDatabases.ExecuteAsync(place.Address, $"INSERT INTO kit_subscription (type, queue) VALUES ('{type}', '{queue}')");
                return;
            }

            await using var broker = await Endpoints.Bare.RabbitMq.Broker.ConnectAsync(
                Endpoints.Bare.RabbitMq.RabbitMqAddress.Parse(place.Address), "test", CancellationToken.None);
            await using var channel = await broker.CreateChannelAsync();
            await channel.ExchangeDeclareAsync(type, ExchangeType.Fanout, durable: true, autoDelete: false);
            await channel.QueueBindAsync(queue, type, routingKey: "");
        }

        /// <summary>Runs the endpoint until its queue is empty.</summary>
        public async Task RunAsync(Work work)
        {
            var host = Host.CreateEmptyApplicationBuilder(settings: null);
            host.Services.AddSingleton(work).AddBareEndpoint("work", endpoint =>
                (cell.Kind.Transport == TransportName.PostgreSql
                    ? endpoint.UsePostgreSql(place.Address, databases.Widgets)
                    : endpoint.UseRabbitMq(place.Address, databases.Widgets))
                .UseTransactionMode(TransactionMode.DtcOff)
                .Handle<Envelope<Order>, Handler>());
            using var endpoint = host.Build();
            await endpoint.StartAsync();
            await Eventually.HoldsAsync(async () => await Queue.CountAsync(CancellationToken.None) == 0, "the queue is empty");
            await endpoint.StopAsync();
        }

        public async ValueTask DisposeAsync()
        {
            await Queue.DisposeAsync();
            await place.DisposeAsync();
            await databases.DisposeAsync();
        }
    }

    private sealed class Handler(Work work) : IMessageHandler<Envelope<Order>>
    {
        public Task HandleAsync(Envelope<Order> message, MessageContext context, CancellationToken cancellationToken) => work(context, cancellationToken);
    }
}
