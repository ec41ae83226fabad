using MassTransit;
using Microsoft.Extensions.DependencyInjection;
using Npgsql;

namespace Orders;

/// <summary>The endpoint on MassTransit, with queues in RabbitMQ.</summary>
internal static class OnMassTransit
{
    public static void Add(IServiceCollection services, Settings settings)
    {
        services.AddOptions<MassTransitHostOptions>().Configure(host => host.WaitUntilStarted = true);
        services.AddMassTransit(bus =>
        {
            bus.AddConsumer<PlaceOrderConsumer>();
            bus.UsingRabbitMq((context, rabbit) =>
            {
                rabbit.Host(new Uri(settings.Queues));
                rabbit.ReceiveEndpoint("orders", endpoint =>
                {
                    endpoint.ConcurrentMessageLimit = 2;
                    // Before the consumer, so that it wraps the consumer.
                    endpoint.UseTransactionMode(settings.Mode, context);
                    endpoint.ConfigureConsumer<PlaceOrderConsumer>(context);
                });
            });
        });
    }

    public static async Task SendAsync(IServiceProvider services, PlaceOrder order, CancellationToken cancellationToken)
    {
        var endpoint = await services.GetRequiredService<IBus>().GetSendEndpoint(new Uri("queue:orders"));
        await endpoint.Send(order, cancellationToken);
    }

    public sealed class PlaceOrderConsumer(NpgsqlDataSource data) : IConsumer<PlaceOrder>
    {
        public async Task Consume(ConsumeContext<PlaceOrder> context)
        {
            await using var connection = await data.OpenConnectionAsync(context.CancellationToken);
            await OrderTable.InsertAsync(connection, context.Message, context.CancellationToken);
        }
    }
}
