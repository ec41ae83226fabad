using Kit.Endpoints.Bare.RabbitMq;
using Kit.Modes;
using Microsoft.EntityFrameworkCore;
using Microsoft.EntityFrameworkCore.Storage;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Npgsql;
using Wolverine;
using Wolverine.Attributes;
using Wolverine.EntityFrameworkCore;
using Wolverine.Persistence;
using Wolverine.Postgresql;
using Wolverine.RabbitMQ;
using Wolverine.Transports;

namespace Kit.Tests.Samples;

/// <summary>Wolverine as the page configures it, with handlers that Wolverine's own generated code calls.</summary>
[Parallelizable]
public sealed class HandlersOnWolverine
{
    private const string Rows = "SELECT count(*)::int FROM placed_order";

    [TestCase(typeof(InOutbox), "outbox", 1)]
    [TestCase(typeof(InOutboxWithoutItsModel), "outbox", 1)]
    [TestCase(typeof(OnItsOwn), "scope-off", 2)]
    public async Task An_order_whose_first_attempt_fails_after_its_insert_leaves_as_many_rows(Type handler, string mode, int rows)
    {
        await using var databases = await TestDatabases.CreateAsync();
        await TestDatabases.ExecuteAsync(databases.Widgets, "CREATE TABLE placed_order (id uuid NOT NULL)");
        using var host = Build(databases.Widgets, TransactionMode.Parse(mode), handler);
        await host.StartAsync();

        await host.Services.GetRequiredService<IMessageBus>().SendAsync(new OrderToPlace(Guid.CreateVersion7()));

        await Eventually.HoldsAsync(
            async () => await TestDatabases.ScalarAsync(
                databases.Widgets, "SELECT count(*)::int FROM wolverine.wolverine_incoming_envelopes WHERE status = 'Handled'") == 1,
            "the order is handled");
        await host.StopAsync();
        Assert.That(await TestDatabases.ScalarAsync(databases.Widgets, Rows), Is.EqualTo(rows));
    }

    [TestCase(typeof(InOutboxAndSends), "outbox", 1)]
    [TestCase(typeof(OnItsOwnAndSends), "scope-off", 2)]
    public async Task An_order_whose_first_attempt_fails_after_its_send_is_sent_on_once(Type handler, string mode, int rows)
    {
        await using var databases = await TestDatabases.CreateAsync();
        await TestDatabases.ExecuteAsync(databases.Widgets, "CREATE TABLE placed_order (id uuid NOT NULL)");
        using var host = Build(
            databases.Widgets, TransactionMode.Parse(mode), handler, wolverine => wolverine.PublishMessage<OrderIsPlaced>().ToPostgresqlQueue("placed"));
        await host.StartAsync();

        await host.Services.GetRequiredService<IMessageBus>().SendAsync(new OrderToPlace(Guid.CreateVersion7()));

        await Eventually.HoldsAsync(
            async () => await TestDatabases.ScalarAsync(
                databases.Widgets,
                """
                SELECT (SELECT count(*) FROM wolverine.wolverine_incoming_envelopes WHERE status = 'Handled')::int
                     - (SELECT count(*) FROM wolverine.wolverine_outgoing_envelopes)::int
                """) == 1,
            "the order is handled, and nothing waits to be sent");
        await host.StopAsync();
        Assert.That(await TestDatabases.ScalarAsync(databases.Widgets, Rows), Is.EqualTo(rows));
        Assert.That(await TestDatabases.ScalarAsync(databases.Widgets, "SELECT count(*)::int FROM wolverine_queues.wolverine_queue_placed"), Is.EqualTo(1));
    }

    [TestCase("scope-off", typeof(OnItsOwn), 2)]
    [TestCase("outbox", typeof(InOutbox), 1)]
    public async Task On_RabbitMQ_too(string mode, Type handler, int rows)
    {
        await using var databases = await TestDatabases.CreateAsync();
        await using var broker = await TestVirtualHost.CreateAsync();
        await TestDatabases.ExecuteAsync(databases.Widgets, "CREATE TABLE placed_order (id uuid NOT NULL)");
        using var host = Build(
            databases.Widgets,
            handler,
            wolverine =>
            {
                ConfigureOnRabbitMq(wolverine, TransactionMode.Parse(mode), RabbitMqAddress.Parse(broker.Address).Amqp, databases.Widgets);
                wolverine.PublishAllMessages().ToRabbitQueue("orders");
            });
        await host.StartAsync();

        await host.Services.GetRequiredService<IMessageBus>().SendAsync(new OrderToPlace(Guid.CreateVersion7()));

        await Eventually.HoldsAsync(async () => await TestDatabases.ScalarAsync(databases.Widgets, Rows) >= rows, "the order is placed");
        // Its row is there before the message is acknowledged.
        await using var queue = new RabbitMqQueue(RabbitMqAddress.Parse(broker.Address), "orders", hasRetries: false);
        await Eventually.HoldsAsync(async () => await queue.CountAsync(CancellationToken.None) == 0, "the message is done");
        await host.StopAsync();
        Assert.That(await TestDatabases.ScalarAsync(databases.Widgets, Rows), Is.EqualTo(rows));
        Assert.That(await queue.CountAsync(CancellationToken.None), Is.Zero);
    }

    [Test]
    public async Task On_RabbitMQ_in_outbox_an_event_for_two_queues_is_handled_from_both()
    {
        await using var databases = await TestDatabases.CreateAsync();
        await using var broker = await TestVirtualHost.CreateAsync();
        await TestDatabases.ExecuteAsync(databases.Widgets, "CREATE TABLE placed_order (id uuid NOT NULL)");
        using var orders = BuildOf("orders");
        using var audits = BuildOf("audits");
        await orders.StartAsync();
        await audits.StartAsync();
        foreach (var name in new[] { "orders", "audits" })
        {
            await using var queue = new RabbitMqQueue(RabbitMqAddress.Parse(broker.Address), name, hasRetries: false);
            await queue.BindExchangeAsync("placed", CancellationToken.None);
        }

        await orders.Services.GetRequiredService<IMessageBus>().PublishAsync(new OrderToPlace(Guid.CreateVersion7()));

        await Eventually.HoldsAsync(async () => await TestDatabases.ScalarAsync(databases.Widgets, Rows) == 2, "both have handled it");
        await orders.StopAsync();
        await audits.StopAsync();

        IHost BuildOf(string queue) => Build(databases.Widgets, typeof(InOutboxAlone), wolverine =>
        {
            ConfigureOnRabbitMq(wolverine, TransactionMode.Outbox, RabbitMqAddress.Parse(broker.Address).Amqp, databases.Widgets, queue);
            wolverine.PublishMessage<OrderToPlace>().ToRabbitExchange("placed");
        });
    }

    [Test]
    public async Task In_outbox_a_handler_that_takes_no_context_fails_the_start()
    {
        await using var databases = await TestDatabases.CreateAsync();
        using var host = Build(databases.Widgets, TransactionMode.Outbox, typeof(OnItsOwn));

        await Assert.ThatAsync(
            () => host.StartAsync(), Throws.TypeOf<InvalidOperationException>().With.Message.Contains("No handler of OrderToPlace takes a DbContext"));
    }

    [Test]
    public async Task In_outbox_one_of_several_handlers_that_takes_no_context_fails_the_start()
    {
        await using var databases = await TestDatabases.CreateAsync();
        using var host = Build(
            databases.Widgets, TransactionMode.Outbox, typeof(InOutbox), wolverine => wolverine.Discovery.IncludeType(typeof(OnItsOwn)));

        await Assert.ThatAsync(
            () => host.StartAsync(), Throws.TypeOf<InvalidOperationException>().With.Message.Contains("OnItsOwn takes no DbContext, although another handler"));
    }

    [TestCase("outbox", typeof(InOutboxAndOn), false)]
    [TestCase("scope-off", typeof(OnItsOwnAndOn), false)]
    [TestCase("outbox", typeof(InOutboxAndOn), true)]
    public async Task What_is_sent_to_a_handler_of_the_same_application_is_stored(string mode, Type handler, bool isOnRabbitMq)
    {
        await using var databases = await TestDatabases.CreateAsync();
        await using var broker = await TestVirtualHost.CreateAsync();
        await TestDatabases.ExecuteAsync(databases.Widgets, "CREATE TABLE placed_order (id uuid NOT NULL)");
        using var host = Build(databases.Widgets, handler, wolverine =>
        {
            wolverine.Services.AddSingleton(new Held());
            if (isOnRabbitMq)
            {
                ConfigureOnRabbitMq(wolverine, TransactionMode.Parse(mode), RabbitMqAddress.Parse(broker.Address).Amqp, databases.Widgets);
                wolverine.PublishMessage<OrderToPlace>().ToRabbitQueue("orders");
            }
            else
            {
                Configure(wolverine, TransactionMode.Parse(mode), (databases.Widgets, databases.Widgets));
                wolverine.PublishMessage<OrderToPlace>().ToPostgresqlQueue("orders");
            }
        });
        await host.StartAsync();

        await host.Services.GetRequiredService<IMessageBus>().SendAsync(new OrderToPlace(Guid.CreateVersion7()));

        var held = host.Services.GetRequiredService<Held>();
        await held.IsReached.Task.WaitAsync(Eventually.Limit);
        // What only memory has is lost if the process ends now.
        var stored = await TestDatabases.ScalarAsync(
            databases.Widgets,
            $"SELECT count(*)::int FROM wolverine.wolverine_incoming_envelopes WHERE status <> 'Handled' AND message_type LIKE '%{nameof(OrderIsPlaced)}'");
        held.MayGoOn.SetResult();
        await host.StopAsync();
        Assert.That(stored, Is.EqualTo(1));
    }

    [TestCase(typeof(InOutboxWithoutATransaction), false, "The handler of OrderToPlace has a [Transactional] of its own")]
    [TestCase(typeof(InOutbox), true, "Wolverine begins no transaction around the handler of OrderToPlace")]
    public async Task In_outbox_a_handler_around_which_there_may_be_no_transaction_fails_the_start(Type handler, bool isLightweight, string reason)
    {
        await using var databases = await TestDatabases.CreateAsync();
        using var host = Build(databases.Widgets, TransactionMode.Outbox, handler, wolverine =>
        {
            if (isLightweight)
                wolverine.UseEntityFrameworkCoreTransactions(TransactionMiddlewareMode.Lightweight);
        });

        await Assert.ThatAsync(() => host.StartAsync(), Throws.TypeOf<InvalidOperationException>().With.Message.Contains(reason));
    }

    private static IHost Build(string database, TransactionMode mode, Type handler, Action<WolverineOptions>? afterwards = null) => Build(
        database,
        handler,
        wolverine =>
        {
            Configure(wolverine, mode, (database, database));
            wolverine.PublishAllMessages().ToPostgresqlQueue("orders");
            afterwards?.Invoke(wolverine);
        });

    private static IHost Build(string database, Type handler, Action<WolverineOptions> configure)
    {
        var builder = Host.CreateEmptyApplicationBuilder(settings: null);
        builder.Services.AddSingleton(NpgsqlDataSource.Create(database));
        builder.Services.AddSingleton(new FirstAttempt());
        builder.Services.AddWolverine(ExtensionDiscovery.ManualOnly, wolverine =>
        {
            wolverine.UseRuntimeCompilation();
            wolverine.Durability.Mode = DurabilityMode.Solo;
            wolverine.ApplicationAssembly = typeof(HandlersOnWolverine).Assembly;
            wolverine.Discovery.DisableConventionalDiscovery().IncludeType(handler);
            configure(wolverine);
        });
        return builder.Build();
    }

    private static void Configure(WolverineOptions wolverine, TransactionMode mode, (string Queues, string Data) settings)
    {
        wolverine.Services.AddDbContextWithWolverineIntegration<OrdersContext>(context => context.UseNpgsql(settings.Data), "wolverine");
        wolverine.UseTransactionMode(mode, settings.Queues, "orders")
            .MaximumParallelMessages(2)
            .UseDurableInbox(new BufferingLimits(10_000, 5_000))
            .MaximumMessagesToReceive(100).PollingInterval(TimeSpan.FromMilliseconds(20));
    }

    private static void ConfigureOnRabbitMq(WolverineOptions wolverine, TransactionMode mode, Uri broker, string data, string queue = "orders")
    {
        wolverine.Services.AddDbContextWithWolverineIntegration<OrdersContext>(context => context.UseNpgsql(data), "wolverine");
        wolverine.UseTransactionMode(mode, broker, queue, data).ListenerCount(2);
        wolverine.ConfigureRabbitMq().AutoProvision();
    }
}

/// <summary>The message. Wolverine generates code that calls its handler, so both are public.</summary>
public sealed record OrderToPlace(Guid OrderId);

/// <summary>What a handler sends.</summary>
public sealed record OrderIsPlaced(Guid OrderId);

/// <summary>A row for each order.</summary>
public sealed class PlacedOrder
{
    public Guid Id { get; init; }
}

/// <summary>The application's context.</summary>
public sealed class OrdersContext(DbContextOptions<OrdersContext> options) : DbContext(options)
{
    public DbSet<PlacedOrder> Placed => Set<PlacedOrder>();

    protected override void OnModelCreating(ModelBuilder modelBuilder) =>
        modelBuilder.Entity<PlacedOrder>(order => order.ToTable("placed_order").Property(one => one.Id).HasColumnName("id"));
}

/// <summary>Fails the first attempt, and no other.</summary>
public sealed class FirstAttempt
{
    private int attempts;

    public void Fail()
    {
        if (Interlocked.Increment(ref attempts) == 1)
            throw new InvalidOperationException("The test wants this attempt to fail.");
    }
}

public static class InOutbox
{
    public static async Task Handle(OrderToPlace order, OrdersContext data, FirstAttempt first, CancellationToken cancellationToken)
    {
        data.Placed.Add(new PlacedOrder { Id = order.OrderId });
        await data.SaveChangesAsync(cancellationToken);
        first.Fail();
    }
}

public static class InOutboxAlone
{
    public static Task Handle(OrderToPlace order, OrdersContext data, CancellationToken cancellationToken)
    {
        data.Placed.Add(new PlacedOrder { Id = order.OrderId });
        return data.SaveChangesAsync(cancellationToken);
    }
}

public static class InOutboxWithoutItsModel
{
    public static async Task Handle(OrderToPlace order, OrdersContext data, FirstAttempt first, CancellationToken cancellationToken)
    {
        await using var insert = new NpgsqlCommand("INSERT INTO placed_order (id) VALUES ($1)", (NpgsqlConnection)data.Database.GetDbConnection())
        {
            Transaction = (NpgsqlTransaction)data.Database.CurrentTransaction!.GetDbTransaction(),
            Parameters = { new() { Value = order.OrderId } },
        };
        await insert.ExecuteNonQueryAsync(cancellationToken);
        first.Fail();
    }
}

public static class OnItsOwn
{
    public static async Task Handle(OrderToPlace order, NpgsqlDataSource data, FirstAttempt first, CancellationToken cancellationToken)
    {
        await using var insert = data.CreateCommand("INSERT INTO placed_order (id) VALUES ($1)");
        insert.Parameters.Add(new NpgsqlParameter { Value = order.OrderId });
        await insert.ExecuteNonQueryAsync(cancellationToken);
        first.Fail();
    }
}

public static class InOutboxAndSends
{
    public static async Task Handle(OrderToPlace order, OrdersContext data, IMessageContext context, FirstAttempt first, CancellationToken cancellationToken)
    {
        data.Placed.Add(new PlacedOrder { Id = order.OrderId });
        await data.SaveChangesAsync(cancellationToken);
        await context.EndpointFor(new Uri("postgresql://placed")).SendAsync(new OrderIsPlaced(order.OrderId));
        first.Fail();
    }
}

public static class OnItsOwnAndSends
{
    public static async Task Handle(OrderToPlace order, NpgsqlDataSource data, IMessageContext context, FirstAttempt first, CancellationToken cancellationToken)
    {
        await using var insert = data.CreateCommand("INSERT INTO placed_order (id) VALUES ($1)");
        insert.Parameters.Add(new NpgsqlParameter { Value = order.OrderId });
        await insert.ExecuteNonQueryAsync(cancellationToken);
        await context.EndpointFor(new Uri("postgresql://placed")).SendAsync(new OrderIsPlaced(order.OrderId));
        first.Fail();
    }
}

public static class InOutboxWithoutATransaction
{
    [Transactional(Mode = TransactionMiddlewareMode.Lightweight)]
    public static Task Handle(OrderToPlace order, OrdersContext data, CancellationToken cancellationToken)
    {
        data.Placed.Add(new PlacedOrder { Id = order.OrderId });
        return data.SaveChangesAsync(cancellationToken);
    }
}

/// <summary>Holds a message in its handler.</summary>
public sealed class Held
{
    public TaskCompletionSource IsReached { get; } = new();

    public TaskCompletionSource MayGoOn { get; } = new();

    public Task WaitAsync()
    {
        IsReached.TrySetResult();
        return MayGoOn.Task;
    }
}

/// <summary>Its second handler has no queue of a server.</summary>
public static class InOutboxAndOn
{
    public static async Task<OrderIsPlaced> Handle(OrderToPlace order, OrdersContext data, CancellationToken cancellationToken)
    {
        data.Placed.Add(new PlacedOrder { Id = order.OrderId });
        await data.SaveChangesAsync(cancellationToken);
        return new OrderIsPlaced(order.OrderId);
    }

    public static async Task Handle(OrderIsPlaced order, OrdersContext data, Held held)
    {
        await held.WaitAsync();
        data.Placed.Add(new PlacedOrder { Id = order.OrderId });
    }
}

public static class OnItsOwnAndOn
{
    public static OrderIsPlaced Handle(OrderToPlace order) => new(order.OrderId);

    public static Task Handle(OrderIsPlaced order, Held held) => held.WaitAsync();
}
