using Kit.Modes;
using Microsoft.Extensions.DependencyInjection;
using Npgsql;
using NServiceBus;
using NServiceBus.Transport;

namespace Orders;

/// <summary>The endpoint on NServiceBus, with queues in PostgreSQL. Compiled only if the package feed has it.</summary>
internal static class OnNServiceBus
{
    public static void Add(IServiceCollection services, Settings settings)
    {
        if (settings.Mode == TransactionMode.FullDtc)
        {
            AddInTwoPhases(services, settings);
            return;
        }

        var endpoint = new EndpointConfiguration("orders");
        endpoint.UseTransactionMode(new PostgreSqlTransport(settings.Queues), settings.Mode);
        endpoint.LimitMessageProcessingConcurrencyTo(2);
        endpoint.UseSerialization<SystemJsonSerializer>();
        endpoint.EnableInstallers();
        endpoint.AssemblyScanner().Disable = true; // three handlers exist for one message; the mode decides which is used
        endpoint.Conventions().DefiningCommandsAs(type => type == typeof(PlaceOrder));
        if (settings.Mode == TransactionMode.Shared)
            endpoint.AddHandler<PlaceOrderWithTheReceive>();
        else
            endpoint.AddHandler<PlaceOrderHandler>();

        services.AddNServiceBusEndpoint(endpoint);
    }

    private static void AddInTwoPhases(IServiceCollection services, Settings settings)
    {
        var endpoint = new EndpointConfiguration("orders");
        endpoint.UseTransactionMode(new TwoPhasePostgreSqlTransport(settings.Queues, settings.Data), TransactionMode.FullDtc);
        endpoint.LimitMessageProcessingConcurrencyTo(2);
        endpoint.UseSerialization<SystemJsonSerializer>();
        endpoint.EnableInstallers();
        endpoint.AssemblyScanner().Disable = true;
        endpoint.Conventions().DefiningCommandsAs(type => type == typeof(PlaceOrder));
        endpoint.AddHandler<PlaceOrderInTwoPhases>();
        services.AddNServiceBusEndpoint(endpoint);
    }

    public static TransportDefinition TransportOf(Settings settings) => settings.Mode == TransactionMode.FullDtc
        ? new TwoPhasePostgreSqlTransport(settings.Queues, settings.Data)
        : new PostgreSqlTransport(settings.Queues);

    public static Task SendAsync(IServiceProvider services, PlaceOrder order, CancellationToken cancellationToken) =>
        services.GetRequiredService<IMessageSession>().SendLocal(order, cancellationToken);

    public sealed class PlaceOrderHandler(NpgsqlDataSource data) : IHandleMessages<PlaceOrder>
    {
        public async Task Handle(PlaceOrder message, IMessageHandlerContext context)
        {
            await using var connection = await data.OpenConnectionAsync(context.CancellationToken);
            await OrderTable.InsertAsync(connection, message, context.CancellationToken);
        }
    }

    /// <summary>For <c>shared</c>: works in the transaction that received the message.</summary>
    public sealed class PlaceOrderWithTheReceive : IHandleMessages<PlaceOrder>
    {
        public Task Handle(PlaceOrder message, IMessageHandlerContext context)
        {
            var connection = context.GetReceiveTransaction().Connection!; // lent: the transport closes it
            return OrderTable.InsertAsync(connection, message, context.CancellationToken);
        }
    }

    /// <summary>For <c>full-dtc</c>: works in a transaction that commits with the receive.</summary>
    public sealed class PlaceOrderInTwoPhases : IHandleMessages<PlaceOrder>
    {
        public async Task Handle(PlaceOrder message, IMessageHandlerContext context)
        {
            var connection = await context.GetBranchConnectionAsync(); // lent: the transport commits and closes it
            await OrderTable.InsertAsync(connection, message, context.CancellationToken);
        }
    }
}
