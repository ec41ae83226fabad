using Kit.Endpoints.Bare;
using Kit.Endpoints.Bare.RabbitMq;
using Kit.Handlers;
using Kit.Modes;
using MassTransit;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Npgsql;

namespace Kit.Tests.RabbitMq;

/// <summary>
/// MassTransit in <c>dtc-off</c>: a consumer that inserts, waits longer than its transaction may last, and inserts again; and one that is not alone.
/// </summary>
[Parallelizable]
public sealed class ConsumerOverrunsItsTransaction
{
    private static readonly TimeSpan TransactionTimeout = TimeSpan.FromSeconds(1);

    private readonly List<bool> cancelled = [];
    private TestDatabases databases = null!;
    private TestVirtualHost broker = null!;

    [SetUp]
    public async Task SetUp()
    {
        cancelled.Clear();
        databases = await TestDatabases.CreateAsync();
        broker = await TestVirtualHost.CreateAsync();
    }

    [TearDown]
    public async Task TearDown()
    {
        await broker.DisposeAsync();
        await databases.DisposeAsync();
    }

    [Test]
    public async Task It_leaves_nothing_and_is_given_up_after_the_modes_attempts()
    {
        var message = await ConsumeAsync(isLate: _ => true, TransactionTimeout);

        Assert.That(await databases.CountRowsAsync(message), Is.Zero);
        Assert.That(cancelled, Is.EqualTo(Enumerable.Repeat(true, TransactionMode.DtcOff.Attempts)));
    }

    [Test]
    public async Task Its_next_attempt_commits_when_that_is_in_time()
    {
        var message = await ConsumeAsync(isLate: attempt => attempt == 1, TransactionTimeout);

        Assert.That(await databases.CountRowsAsync(message), Is.EqualTo(2));
    }

    [Test]
    public async Task A_handler_without_a_class_has_a_transaction_too()
    {
        await using var data = NpgsqlDataSource.Create(databases.Widgets);

        var message = await ConsumeAsync(_ => false, TransactionTimeout, endpoint => endpoint.Handler<BuildWidget>(async context =>
        {
            await using var connection = await data.OpenConnectionAsync(CancellationToken.None);
            await Consumer.InsertAsync(connection, context.Message.MessageId);
            throw new InvalidOperationException("The test wants this attempt to fail.");
        }));

        Assert.That(await databases.CountRowsAsync(message), Is.Zero);
    }

    [Test]
    public async Task A_second_consumer_of_the_message_is_refused()
    {
        await using var data = NpgsqlDataSource.Create(databases.Widgets);

        var refused = await Assert.CatchAsync(() => ConsumeAsync(_ => false, TransactionTimeout, endpoint =>
        {
            endpoint.Handler<BuildWidget>(async context =>
            {
                await using var connection = await data.OpenConnectionAsync(CancellationToken.None);
                await Consumer.InsertAsync(connection, context.Message.MessageId);
            });
            endpoint.Handler<BuildWidget>(_ => throw new InvalidOperationException("The test wants this one to fail."));
        }));

        Assert.That(refused!.GetBaseException().Message, Does.Contain("cannot run two consumers of one message in dtc-off"));
    }

    [Test]
    public async Task A_time_out_that_the_framework_would_shorten_is_refused()
    {
        var refused = await Assert.CatchAsync(() => ConsumeAsync(_ => false, TimeSpan.FromMinutes(30)));

        Assert.That(
            refused!.GetBaseException().Message,
            Does.Contain("00:30:00").And.Contain("00:10:00").And.Contain("TransactionManager.MaximumTimeout = TimeSpan.FromMinutes(30);"));
    }

    /// <summary>One message, until it is out of the queue and the endpoint has stopped.</summary>
    private async Task<Guid> ConsumeAsync(
        Predicate<int> isLate, TimeSpan transactionTimeout, Action<IRabbitMqReceiveEndpointConfigurator>? configure = null)
    {
        var address = RabbitMqAddress.Parse(broker.Address);
        await using var queue = new RabbitMqQueue(address, "work", hasRetries: false);
        await queue.CreateAsync(CancellationToken.None);
        await queue.BindExchangeAsync(CancellationToken.None);
        var message = new BuildWidget(Guid.CreateVersion7());
        await queue.EnqueueAsync([OutgoingMessage.Create("work", message, message.MessageId)], CancellationToken.None);
        await using var data = NpgsqlDataSource.Create(databases.Widgets);

        var host = Host.CreateEmptyApplicationBuilder(settings: null);
        host.Services.AddOptions<MassTransitHostOptions>().Configure(options => options.WaitUntilStarted = true);
        host.Services.AddScoped(_ => new Consumer(data, isLate, cancelled));
        host.Services.AddMassTransit(bus =>
        {
            bus.DisableUsageTelemetry();
            bus.AddConsumer<Consumer>();
            bus.UsingRabbitMq((context, rabbit) =>
            {
                rabbit.Host(address.Amqp);
                rabbit.UseRawJsonSerializer(isDefault: true);
                rabbit.ReceiveEndpoint("work", endpoint =>
                {
                    endpoint.ConfigureConsumeTopology = false;
                    endpoint.UseTransactionMode(TransactionMode.DtcOff, context, transactionTimeout);
                    if (configure is null)
                        endpoint.ConfigureConsumer<Consumer>(context);
                    else
                        configure(endpoint);
                });
            });
        });
        using var built = host.Build();
        await built.StartAsync();
        await Eventually.HoldsAsync(async () => await queue.CountAsync(CancellationToken.None) == 0, "the queue is empty");
        await built.StopAsync();
        return message.MessageId;
    }

    private sealed class Consumer(NpgsqlDataSource data, Predicate<int> isLate, List<bool> cancelled) : IConsumer<BuildWidget>
    {
        public async Task Consume(ConsumeContext<BuildWidget> context)
        {
            await using var connection = await data.OpenConnectionAsync(CancellationToken.None);
            await InsertAsync(connection, context.Message.MessageId);
            // As code that knows no token: it goes on when its time is over.
            if (isLate(context.GetRetryAttempt() + 1))
            {
                var token = context.CancellationToken;
                cancelled.Add(await Eventually.IsSoAsync(() => Task.FromResult(token.IsCancellationRequested), Eventually.Limit));
            }

            await InsertAsync(connection, context.Message.MessageId);
        }

        public static async Task InsertAsync(NpgsqlConnection connection, Guid message)
        {
            await using var command = new NpgsqlCommand("INSERT INTO widget (id, message_id) VALUES ($1, $2)", connection)
            {
                Parameters = { new() { Value = Random.Shared.NextInt64() }, new() { Value = message } },
            };
            await command.ExecuteNonQueryAsync();
        }
    }
}
