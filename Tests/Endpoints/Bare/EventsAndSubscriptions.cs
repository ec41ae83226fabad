using Kit.Endpoints.Bare;
using Kit.Endpoints.Bare.PostgreSql.Queues;
using Kit.Endpoints.Bare.RabbitMq;
using Kit.Endpoints.Cells;
using Kit.Guarantees;
using Kit.Handlers;
using Kit.Tests.Contract;
using RabbitMQ.Client;

namespace Kit.Tests.Bare;

/// <summary>Events without a subscriber, and queues that subscribe.</summary>
[Parallelizable]
public sealed class EventsAndSubscriptions
{
    [TestCase("bare.postgresql.dtc-off.ado")]
    [TestCase("bare.rabbitmq.dtc-off.ado")]
    public async Task An_event_without_a_subscriber_fails_its_message(string cell)
    {
        if (TestTransport.MissingServer(Cell.Find(cell)!.Kind.Transport) is { } missing)
            Assert.Ignore(missing);
        await using var bench = await CellBench.CreateAsync(Cell.Find(cell)!, subscribers: 0);
        var message = await bench.SendAsync(Situation.HandlerSucceeds);

        await bench.DrainAsync();

        var error = (await bench.ReadErrorsAsync()).Single();
        Assert.That(error.MessageId, Is.EqualTo(message));
        Assert.That(error.Reason, Does.Match("No queue has subscribed to|NO_ROUTE|procedure kit_publish"));
    }

    [TestCase("rebus.postgresql.dtc-off.ado")]
    [TestCase("masstransit.rabbitmq.dtc-off.ado")]
    public async Task On_a_framework_it_goes_nowhere_and_its_message_is_handled(string cell)
    {
        if (TestTransport.MissingServer(Cell.Find(cell)!.Kind.Transport) is { } missing)
            Assert.Ignore(missing);
        await using var bench = await CellBench.CreateAsync(Cell.Find(cell)!, subscribers: 0);
        await bench.SendAsync(Situation.HandlerSucceeds);

        await bench.DrainAsync();

        Assert.That(await bench.ReadErrorsAsync(), Is.Empty);
        Assert.That(await bench.CountRowsAsync(), Is.EqualTo(1));
    }

    [TestCase("postgresql")]
    [TestCase("rabbitmq")]
    public async Task In_an_outbox_it_waits_for_one_and_keeps_nothing_else_back(string transport)
    {
        var cell = Cell.Find($"bare.{transport}.outbox.ado")!;
        if (TestTransport.MissingServer(transport) is { } missing)
            Assert.Ignore(missing);
        await using var databases = await TestDatabases.CreateAsync();
        await using var place = await TestTransport.OpenAsync(cell, databases);
        await using var queue = cell.Kind.OpenQueue(cell.Name, place.Address);
        await using var sink = cell.Kind.OpenQueue("built", place.Address);
        await queue.CreateAsync(CancellationToken.None);
        await sink.CreateAsync(CancellationToken.None);
        var host = Microsoft.Extensions.Hosting.Host.CreateEmptyApplicationBuilder(settings: null);
        cell.Kind.AddEndpoint(host.Services, cell.EndpointOn(cell.Name, place.Address, databases.Widgets, concurrency: 2), async (message, context, token) =>
        {
            await context.PublishAsync(new WidgetReady(message.MessageId), token);
            await context.SendAsync("built", new WidgetBuilt(message.MessageId), token);
        });
        using var endpoint = host.Build();
        Outbox.OutboxBench.SetSchedule(endpoint, cell.Name, Outbox.OutboxBench.Patient);
        await endpoint.StartAsync();
        var message = new BuildWidget(Guid.CreateVersion7());
        await queue.PreloadAsync([message], CancellationToken.None);
        await Eventually.HoldsAsync(async () => await sink.CountAsync(CancellationToken.None) == 1, "the send has arrived");

        await sink.SubscribeAsync(typeof(WidgetReady), CancellationToken.None);
        await Eventually.HoldsAsync(async () => await sink.CountAsync(CancellationToken.None) == 2, "the event has arrived");
        await endpoint.StopAsync();

        Assert.That(await sink.ReadMessagesAsync(CancellationToken.None), Is.EqualTo(new[] { message.MessageId, message.MessageId }));
    }

    [TestCase("postgresql")]
    [TestCase("rabbitmq")]
    public async Task A_queue_that_has_subscribed_twice_gets_an_event_once_and_no_event_of_another_type(string transport)
    {
        var cell = Cell.Find($"bare.{transport}.dtc-off.ado")!;
        if (TestTransport.MissingServer(transport) is { } missing)
            Assert.Ignore(missing);
        await using var databases = await TestDatabases.CreateAsync();
        await using var place = await TestTransport.OpenAsync(cell, databases);
        await using var twice = cell.Kind.OpenQueue("twice", place.Address);
        await using var other = cell.Kind.OpenQueue("other \"quoted\" name", place.Address);
        foreach (var queue in new[] { twice, other })
            await queue.CreateAsync(CancellationToken.None);
        await twice.SubscribeAsync(typeof(WidgetReady), CancellationToken.None);
        await twice.SubscribeAsync(typeof(WidgetReady), CancellationToken.None);
        await other.SubscribeAsync(typeof(BuildWidget), CancellationToken.None);
        var id = Guid.CreateVersion7();

        Assert.That(await SendAsync(transport, place.Address, OutgoingMessage.CreateEvent(new WidgetReady(id), id)), Is.Null);
        Assert.That(await SendAsync(transport, place.Address, OutgoingMessage.CreateEvent(new BuildWidget(id), id)), Is.Null);

        foreach (var queue in new[] { twice, other })
            Assert.That(await queue.ReadMessagesAsync(CancellationToken.None), Is.EqualTo(new[] { id }), queue.Name);
        Assert.That(
            await SendAsync(transport, place.Address, OutgoingMessage.CreateEvent(new WidgetBuilt(id), id)),
            Does.Contain("No queue has subscribed to").And.Contain("Kit.Handlers.WidgetBuilt"));
    }

    [Test]
    public async Task An_exchange_of_another_kind_is_refused_with_its_name()
    {
        if (TestTransport.MissingServer(TransportName.RabbitMq) is { } missing)
            Assert.Ignore(missing);
        var cell = Cell.Find("bare.rabbitmq.dtc-off.ado")!;
        await using var databases = await TestDatabases.CreateAsync();
        await using var place = await TestTransport.OpenAsync(cell, databases);
        await using var queue = cell.Kind.OpenQueue("work", place.Address);
        await queue.CreateAsync(CancellationToken.None);
        await using (var broker = await Broker.ConnectAsync(RabbitMqAddress.Parse(place.Address), "test", CancellationToken.None))
        {
            await using var channel = await broker.CreateChannelAsync();
            await channel.ExchangeDeclareAsync(typeof(WidgetReady).FullName!, ExchangeType.Topic, durable: true);
        }

        Assert.That(
            () => queue.SubscribeAsync(typeof(WidgetReady), CancellationToken.None),
            Throws.TypeOf<BrokerException>().With.Message.StartsWith("Exchange 'Kit.Handlers.WidgetReady' already exists, and not as a durable fanout"));
    }

    private static async Task<string?> SendAsync(string transport, string address, OutgoingMessage message)
    {
        if (transport == TransportName.RabbitMq)
        {
            await using var sender = await Kit.Endpoints.Bare.RabbitMq.QueueSender.OpenAsync(
                RabbitMqAddress.Parse(address), "test", TimeSpan.FromSeconds(30), CancellationToken.None);
            return (await sender.SendAsync(message, CancellationToken.None))?.Reason;
        }

        await using var source = Npgsql.NpgsqlDataSource.Create(address);
        await using var batch = source.CreateBatch();
        batch.BatchCommands.Add(QueueStatements.Sending(message));
        try
        {
            await batch.ExecuteNonQueryAsync();
            return null;
        }
        catch (Npgsql.PostgresException refused)
        {
            return refused.MessageText;
        }
    }
}
