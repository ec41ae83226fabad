using Kit.Modes;
using Microsoft.EntityFrameworkCore;
using Microsoft.Extensions.DependencyInjection;
using Npgsql;
using Wolverine;
using Wolverine.EntityFrameworkCore;
using Wolverine.Postgresql;
using Wolverine.Transports;

namespace Orders;

/// <summary>The endpoint on Wolverine, with queues in PostgreSQL.</summary>
internal static class OnWolverine
{
    public static void Add(IServiceCollection services, Settings settings)
    {
        services.AddDbContextWithWolverineIntegration<OrdersContext>(context => context.UseNpgsql(settings.Data), "wolverine");
        services.AddWolverine(ExtensionDiscovery.ManualOnly, wolverine =>
        {
            wolverine.UseRuntimeCompilation();
            wolverine.ApplicationAssembly = typeof(OnWolverine).Assembly;
            wolverine.Durability.Mode = DurabilityMode.Solo; // one process
            wolverine.Discovery.DisableConventionalDiscovery()
                .IncludeType(settings.Mode == TransactionMode.Outbox ? typeof(PlaceOrderInTransaction) : typeof(PlaceOrderOnItsOwn));
            wolverine.UseTransactionMode(settings.Mode, settings.Queues, "orders")
                .MaximumParallelMessages(2)
                .UseDurableInbox(new BufferingLimits(10_000, 5_000))
                .MaximumMessagesToReceive(100).PollingInterval(TimeSpan.FromMilliseconds(20));
            wolverine.PublishMessage<PlaceOrder>().ToPostgresqlQueue("orders");
        });
    }

    public static Task SendAsync(IServiceProvider services, PlaceOrder order) => services.GetRequiredService<IMessageBus>().SendAsync(order).AsTask();
}

/// <summary>The context in whose transaction Wolverine commits. It needs no model for ADO.NET.</summary>
public sealed class OrdersContext(DbContextOptions<OrdersContext> options) : DbContext(options);

// Code that Wolverine generates calls the handlers, so they are public.
public static class PlaceOrderOnItsOwn
{
    public static async Task Handle(PlaceOrder message, NpgsqlDataSource data, CancellationToken cancellationToken)
    {
        await using var connection = await data.OpenConnectionAsync(cancellationToken);
        await OrderTable.InsertAsync(connection, message, cancellationToken);
    }
}

public static class PlaceOrderInTransaction
{
    public static Task Handle(PlaceOrder message, OrdersContext data, CancellationToken cancellationToken) =>
        OrderTable.InsertAsync(data.Database.GetDbConnection(), message, cancellationToken);
}
