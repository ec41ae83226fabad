using Kit.Endpoints.Bare;
using Kit.Endpoints.Bare.PostgreSql;
using Microsoft.Extensions.DependencyInjection;
using Npgsql;

namespace Orders;

/// <summary>The endpoint on nothing but the driver, with queues in PostgreSQL.</summary>
internal static class OnBare
{
    public static void Add(IServiceCollection services, Settings settings) =>
        services.AddBareEndpoint("orders", endpoint => endpoint
            .UsePostgreSql(settings.Queues, settings.Data)
            .UseTransactionMode(settings.Mode)
            .LimitConcurrency(2)
            .Handle<PlaceOrder, PlaceOrderHandler>());

    /// <summary>Makes the endpoint's queue where it is not there yet.</summary>
    public static async Task InstallAsync(Settings settings, CancellationToken cancellationToken)
    {
        await using var queue = new PostgreSqlQueue(settings.Queues, "orders");
        try
        {
            await queue.CreateAsync(cancellationToken);
        }
        catch (PostgresException there) when (there.SqlState is PostgresErrorCodes.DuplicateTable)
        {
            // From an earlier start.
        }
    }

    public static async Task SendAsync(Settings settings, PlaceOrder order, CancellationToken cancellationToken)
    {
        await using var queue = new PostgreSqlQueue(settings.Queues, "orders");
        await queue.EnqueueAsync([OutgoingMessage.Create("orders", order)], cancellationToken);
    }

    public sealed class PlaceOrderHandler : IMessageHandler<PlaceOrder>
    {
        public async Task HandleAsync(PlaceOrder message, MessageContext context, CancellationToken cancellationToken)
        {
            var connection = await context.GetConnectionAsync(cancellationToken); // lent: the endpoint closes it
            await OrderTable.InsertAsync(connection, message, cancellationToken);
        }
    }
}
