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
using Wolverine.ErrorHandling;
using Wolverine.Persistence;
using Wolverine.Postgresql;
using Wolverine.Postgresql.Transport;
using Wolverine.RabbitMQ;
using Wolverine.Transports;

namespace Kit.Tests.Samples;

/// <summary>Wolverine as the page configures it, with handlers that Wolverine's own generated code calls.</summary>
[Parallelizable]
public sealed class HandlersOnWolverine
{
    private const string Rows = "SELECT count(*)::int FROM placed_order";

    [TestCase(typeof(InOutbox), "outbox", 1)]
    [TestCase(typeof(InOutboxWithoutItsModel), "outbox", 1, Category = ExhaustiveAttribute.Category)]
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

    [TestCase("outbox", typeof(InOutboxAndOn), false, Category = ExhaustiveAttribute.Category)]
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

    [TestCase(true)]
    [TestCase(false, Category = ExhaustiveAttribute.Category)]
    public async Task In_outbox_a_send_to_another_broker_or_through_an_outbox_that_is_off_is_stored(bool isOnRabbitMq)
    {
        await using var databases = await TestDatabases.CreateAsync();
        await using var broker = await TestVirtualHost.CreateAsync();
        await TestDatabases.ExecuteAsync(databases.Widgets, "CREATE TABLE placed_order (id uuid NOT NULL)");
        var stored = new StoredSends();
        using var host = Build(databases.Widgets, typeof(InOutboxAndCounts), wolverine =>
        {
            wolverine.Services.AddSingleton(stored);
            ConfigureOutbox(wolverine, databases.Widgets, queues => queues.DisableInboxAndOutboxOnAll());
            wolverine.PublishMessage<OrderToPlace>().ToPostgresqlQueue("orders");
            if (isOnRabbitMq)
            {
                wolverine.UseRabbitMq(RabbitMqAddress.Parse(broker.Address).Amqp).AutoProvision();
                wolverine.PublishMessage<OrderIsPlaced>().ToRabbitExchange("placed");
            }
            else
            {
                wolverine.PublishMessage<OrderIsPlaced>().ToPostgresqlQueue("placed");
            }
        });
        await host.StartAsync();

        await host.Services.GetRequiredService<IMessageBus>().SendAsync(new OrderToPlace(Guid.CreateVersion7()));

        var count = await stored.Count.Task.WaitAsync(Eventually.Limit);
        await host.StopAsync();
        Assert.That(count, Is.EqualTo(1));
    }

    [TestCase(true)]
    [TestCase(false)]
    public async Task In_outbox_an_endpoint_that_is_set_not_to_store_fails_the_start(bool isListener)
    {
        await using var databases = await TestDatabases.CreateAsync();
        using var host = Build(databases.Widgets, typeof(InOutbox), wolverine =>
        {
            var listener = ConfigureOutbox(wolverine, databases.Widgets);
            wolverine.PublishMessage<OrderToPlace>().ToPostgresqlQueue("orders");
            var placed = wolverine.PublishMessage<OrderIsPlaced>().ToPostgresqlQueue("placed");
            if (isListener)
                listener.BufferedInMemory();
            else
                placed.BufferedInMemory();
        });

        await Assert.ThatAsync(
            () => host.StartAsync(),
            Throws.InvalidOperationException.With.Message.Contains($"postgresql://{(isListener ? "orders" : "placed")}/ is BufferedInMemory"));
    }

    /// <summary>There, Wolverine has endpoints of its own, which cannot store.</summary>
    [Test]
    public async Task In_outbox_one_of_several_processes_starts()
    {
        await using var databases = await TestDatabases.CreateAsync();
        using var host = Build(
            databases.Widgets, TransactionMode.Outbox, typeof(InOutbox), wolverine => wolverine.Durability.Mode = DurabilityMode.Balanced);

        await host.StartAsync();
        await host.StopAsync();
    }

    [Test]
    public async Task In_outbox_a_handler_with_two_contexts_fails_the_start()
    {
        await using var databases = await TestDatabases.CreateAsync();
        using var host = Build(
            databases.Widgets, TransactionMode.Outbox, typeof(InOutboxWithTwoContexts), wolverine => wolverine.Services
                .AddDbContextWithWolverineIntegration<OtherContext>(context => context.UseNpgsql(databases.Widgets), "wolverine"));

        await Assert.ThatAsync(
            () => host.StartAsync(),
            Throws.TypeOf<InvalidOperationException>().With.Message.Contains("The handlers of OrderToPlace take OrdersContext and OtherContext"));
    }

    [Test]
    public async Task In_outbox_handlers_of_a_message_can_be_separated()
    {
        await using var databases = await TestDatabases.CreateAsync();
        await TestDatabases.ExecuteAsync(databases.Widgets, "CREATE TABLE placed_order (id uuid NOT NULL)");
        using var host = Build(databases.Widgets, TransactionMode.Outbox, typeof(InOutbox), wolverine =>
        {
            wolverine.MultipleHandlerBehavior = MultipleHandlerBehavior.Separated;
            wolverine.Discovery.IncludeType(typeof(InOutboxAlone));
        });
        await host.StartAsync();

        await host.Services.GetRequiredService<IMessageBus>().SendAsync(new OrderToPlace(Guid.CreateVersion7()));

        // The message itself, and a copy for each handler.
        await Eventually.HoldsAsync(
            async () => await TestDatabases.ScalarAsync(
                databases.Widgets, "SELECT count(*)::int FROM wolverine.wolverine_incoming_envelopes WHERE status = 'Handled'") == 3,
            "both have handled the order");
        await host.StopAsync();
        Assert.That(await TestDatabases.ScalarAsync(databases.Widgets, Rows), Is.EqualTo(2));
    }

    [Test]
    public async Task In_outbox_a_context_on_another_database_fails_the_start()
    {
        await using var databases = await TestDatabases.CreateAsync();
        using var host = Build(databases.Widgets, typeof(InOutbox), wolverine =>
        {
            Configure(wolverine, TransactionMode.Outbox, (databases.Queue, databases.Widgets));
            wolverine.PublishAllMessages().ToPostgresqlQueue("orders");
        });

        await Assert.ThatAsync(
            () => host.StartAsync(), Throws.TypeOf<InvalidOperationException>().With.Message.Contains("OrdersContext is on another database"));
    }

    /// <summary>Wolverine's <c>InvokeAsync</c> has a scope of its own, and so a context and a transaction.</summary>
    [Test]
    public async Task In_outbox_a_handler_that_another_one_invokes_commits_alone()
    {
        await using var databases = await TestDatabases.CreateAsync();
        await TestDatabases.ExecuteAsync(databases.Widgets, "CREATE TABLE placed_order (id uuid NOT NULL)");
        using var host = Build(databases.Widgets, TransactionMode.Outbox, typeof(InOutboxAndInvokes));
        await host.StartAsync();

        await host.Services.GetRequiredService<IMessageBus>().SendAsync(new OrderToPlace(Guid.CreateVersion7()));

        await Eventually.HoldsAsync(
            async () => await TestDatabases.ScalarAsync(
                databases.Widgets, "SELECT count(*)::int FROM wolverine.wolverine_incoming_envelopes WHERE status = 'Handled'") >= 1,
            "the order is handled");
        await host.StopAsync();
        Assert.That(await TestDatabases.ScalarAsync(databases.Widgets, Rows), Is.EqualTo(2), "one of each attempt of the handler that invokes");
    }

    [TestCase(true, 1)]
    [TestCase(false, 3)]
    public async Task A_rule_for_failures_acts_if_it_is_set_before_the_mode(bool isBefore, int attempts)
    {
        await using var databases = await TestDatabases.CreateAsync();
        var counted = new Attempts();
        using var host = Build(databases.Widgets, typeof(Failing), wolverine =>
        {
            wolverine.Services.AddSingleton(counted);
            if (isBefore)
                wolverine.OnException<InvalidOperationException>().MoveToErrorQueue();
            Configure(wolverine, TransactionMode.ScopeOff, (databases.Widgets, databases.Widgets));
            if (!isBefore)
                wolverine.OnException<InvalidOperationException>().MoveToErrorQueue();
            wolverine.PublishAllMessages().ToPostgresqlQueue("orders");
        });
        await host.StartAsync();

        await host.Services.GetRequiredService<IMessageBus>().SendAsync(new OrderToPlace(Guid.CreateVersion7()));

        await Eventually.HoldsAsync(
            async () => await TestDatabases.ScalarAsync(databases.Widgets, "SELECT count(*)::int FROM wolverine.wolverine_dead_letters") == 1,
            "the order is given up");
        await host.StopAsync();
        Assert.That(counted.Count, Is.EqualTo(attempts));
    }

    [Test]
    public async Task On_RabbitMQ_dead_letters_are_in_the_queues_own_error_queue_also_if_the_queue_was_named_before()
    {
        await using var databases = await TestDatabases.CreateAsync();
        await using var broker = await TestVirtualHost.CreateAsync();
        using var host = Build(databases.Widgets, typeof(Failing), wolverine =>
        {
            wolverine.Services.AddSingleton(new Attempts());
            wolverine.PublishAllMessages().ToRabbitQueue("orders");
            ConfigureOnRabbitMq(wolverine, TransactionMode.ScopeOff, RabbitMqAddress.Parse(broker.Address).Amqp, databases.Widgets);
        });
        await host.StartAsync();

        await host.Services.GetRequiredService<IMessageBus>().SendAsync(new OrderToPlace(Guid.CreateVersion7()));

        await using var errors = new RabbitMqQueue(RabbitMqAddress.Parse(broker.Address), "orders_error", hasRetries: false);
        await Eventually.HoldsAsync(async () => await errors.CountAsync(CancellationToken.None) == 1, "the order is in its error queue");
        await host.StopAsync();
    }

    [TestCase(UnknownMessageBehavior.LogOnly)]
    [TestCase(UnknownMessageBehavior.DeadLetterQueue)]
    public async Task On_RabbitMQ_a_message_without_a_handler_is_one_dead_letter(UnknownMessageBehavior behavior)
    {
        await using var databases = await TestDatabases.CreateAsync();
        await using var broker = await TestVirtualHost.CreateAsync();
        using var host = Build(databases.Widgets, typeof(OnItsOwn), wolverine =>
        {
            wolverine.UnknownMessageBehavior = behavior;
            ConfigureOnRabbitMq(wolverine, TransactionMode.ScopeOff, RabbitMqAddress.Parse(broker.Address).Amqp, databases.Widgets);
            wolverine.PublishMessage<OrderIsPlaced>().ToRabbitQueue("orders");
        });
        await host.StartAsync();

        await host.Services.GetRequiredService<IMessageBus>().SendAsync(new OrderIsPlaced(Guid.CreateVersion7()));

        await using var errors = new RabbitMqQueue(RabbitMqAddress.Parse(broker.Address), "orders_error", hasRetries: false);
        await Eventually.HoldsAsync(async () => await errors.CountAsync(CancellationToken.None) > 0, "it is given up");
        await host.StopAsync();
        Assert.That(await errors.CountAsync(CancellationToken.None), Is.EqualTo(1));
    }

    /// <summary>This mode has no store, and Wolverine gives the broker a message when it is due.</summary>
    [Test]
    public async Task On_RabbitMQ_in_scope_off_a_stop_loses_a_scheduled_message()
    {
        await using var databases = await TestDatabases.CreateAsync();
        await using var broker = await TestVirtualHost.CreateAsync();
        var later = new Later();
        using var host = Build(databases.Widgets, typeof(OnItsOwnAndLater), wolverine =>
        {
            wolverine.Services.AddSingleton(later);
            ConfigureOnRabbitMq(wolverine, TransactionMode.ScopeOff, RabbitMqAddress.Parse(broker.Address).Amqp, databases.Widgets);
            wolverine.PublishMessage<OrderToPlace>().ToRabbitQueue("orders");
            wolverine.PublishMessage<OrderIsPlaced>().ToRabbitQueue("placed");
        });
        await host.StartAsync();

        await host.Services.GetRequiredService<IMessageBus>().SendAsync(new OrderToPlace(Guid.CreateVersion7()));

        await later.IsScheduled.Task.WaitAsync(Eventually.Limit);
        await host.StopAsync();
        using (Assert.EnterMultipleScope())
        {
            foreach (var name in new[] { "orders", "orders_error", "placed" })
            {
                await using var queue = new RabbitMqQueue(RabbitMqAddress.Parse(broker.Address), name, hasRetries: false);
                Assert.That(await queue.CountAsync(CancellationToken.None), Is.Zero, name);
            }
        }
    }

    [TestCase(typeof(InOutboxWithoutATransaction), false, "The handler of OrderToPlace has a [Transactional] of its own")]
    [TestCase(typeof(InOutboxWithoutWolverinesTransaction), false, "The handler of OrderToPlace has [NonTransactional]")]
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

    private static PostgresqlListenerConfiguration ConfigureOutbox(
        WolverineOptions wolverine, string database, Action<PostgresqlPersistenceExpression>? transport = null)
    {
        wolverine.Services.AddDbContextWithWolverineIntegration<OrdersContext>(context => context.UseNpgsql(database), "wolverine");
        return wolverine.UseTransactionMode(TransactionMode.Outbox, database, "orders", transport: transport);
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

public static class InOutboxWithoutWolverinesTransaction
{
    [NonTransactional]
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

/// <summary>The sends that a handler found in the outbox, in its transaction.</summary>
public sealed class StoredSends
{
    public TaskCompletionSource<int> Count { get; } = new();
}

public static class InOutboxAndCounts
{
    public static async Task Handle(OrderToPlace order, OrdersContext data, IMessageContext context, StoredSends sends, CancellationToken cancellationToken)
    {
        await context.PublishAsync(new OrderIsPlaced(order.OrderId));
        await data.SaveChangesAsync(cancellationToken);
        sends.Count.SetResult(
            (await data.Database.SqlQuery<int>($"SELECT count(*)::int FROM wolverine.wolverine_outgoing_envelopes").ToListAsync(cancellationToken)).Single());
    }
}

/// <summary>A second context of the application.</summary>
public sealed class OtherContext(DbContextOptions<OtherContext> options) : DbContext(options);

public static class InOutboxWithTwoContexts
{
    [Storage(typeof(OrdersContext))]
    public static async Task Handle(OrderToPlace order, OrdersContext data, OtherContext other, CancellationToken cancellationToken)
    {
        data.Placed.Add(new PlacedOrder { Id = order.OrderId });
        await data.SaveChangesAsync(cancellationToken);
        await other.SaveChangesAsync(cancellationToken);
    }
}

public static class InOutboxAndInvokes
{
    public static async Task Handle(OrderToPlace order, OrdersContext data, IMessageBus bus, FirstAttempt first, CancellationToken cancellationToken)
    {
        await bus.InvokeAsync(new OrderIsPlaced(order.OrderId), cancellationToken);
        await data.SaveChangesAsync(cancellationToken);
        first.Fail();
    }

    public static void Handle(OrderIsPlaced order, OrdersContext data) => data.Placed.Add(new PlacedOrder { Id = Guid.CreateVersion7() });
}

/// <summary>Counts attempts.</summary>
public sealed class Attempts
{
    private int count;

    public int Count => count;

    public void Add() => Interlocked.Increment(ref count);
}

public static class Failing
{
    public static void Handle(OrderToPlace order, Attempts attempts)
    {
        attempts.Add();
        throw new InvalidOperationException($"The test wants each attempt at {order.OrderId} to fail.");
    }
}

/// <summary>Says that a message is scheduled.</summary>
public sealed class Later
{
    public TaskCompletionSource IsScheduled { get; } = new();
}

public static class OnItsOwnAndLater
{
    public static async Task Handle(OrderToPlace order, IMessageContext context, Later later)
    {
        await context.ScheduleAsync(new OrderIsPlaced(order.OrderId), TimeSpan.FromMinutes(10));
        later.IsScheduled.SetResult();
    }
}
