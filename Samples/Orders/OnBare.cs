using Kit.Endpoints.Bare;
using Microsoft.Extensions.DependencyInjection;

namespace Orders;

/// <summary>The endpoint on the driver alone, with queues in PostgreSQL.</summary>
internal static class OnBare
{
    public static void Add(IServiceCollection services, Settings settings)
    {
        services.AddBareEndpoint("orders", endpoint => endpoint
            .UsePostgreSql(settings.Queues, settings.Data)
            .UseTransactionMode(settings.Mode)
            .LimitConcurrency(2)
            .Handle<PlaceOrder, PlaceOrderHandler>());
        services.AddPostgreSqlMessageSender(settings.Queues);
    }

    public static Task SendAsync(IServiceProvider services, PlaceOrder order, CancellationToken cancellationToken) =>
        services.GetRequiredService<IMessageSender>().SendAsync("orders", order, cancellationToken: cancellationToken);

    public sealed class PlaceOrderHandler : IMessageHandler<PlaceOrder>
    {
        public async Task HandleAsync(PlaceOrder message, MessageContext context, CancellationToken cancellationToken)
        {
            var connection = await context.GetConnectionAsync(cancellationToken); // lent: the endpoint closes it
            await OrderTable.InsertAsync(connection, message, cancellationToken);
        }
    }
}
