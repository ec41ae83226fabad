using Kit.Modes;
using Microsoft.Extensions.DependencyInjection;
using Npgsql;
using Rebus.Backoff;
using Rebus.Bus;
using Rebus.Config;
using Rebus.Handlers;
using Rebus.Pipeline;
using Rebus.Retry.Simple;

namespace Orders;

/// <summary>The endpoint on Rebus, with queues in PostgreSQL.</summary>
internal static class OnRebus
{
    public static void Add(IServiceCollection services, Settings settings)
    {
        services.AddSingleton(settings);
        services.AddRebusHandler<PlaceOrderHandler>();
        services.AddRebus(rebus => rebus
            .UseTransactionMode(settings.Mode, settings.Queues, "messages", "orders", ErrorHandlerMode.NextDelivery)
            .Options(options =>
            {
                options.SetMaxParallelism(2);
                options.SetBackoffTimes(TimeSpan.FromMilliseconds(1), TimeSpan.FromMilliseconds(20), TimeSpan.FromMilliseconds(160));
            }));
    }

    public static Task SendAsync(IServiceProvider services, PlaceOrder order) => services.GetRequiredService<IBus>().SendLocal(order);

    public sealed class PlaceOrderHandler(NpgsqlDataSource data, Settings settings) : IHandleMessages<PlaceOrder>
    {
        public Task Handle(PlaceOrder message) => settings.Mode == TransactionMode.Shared ? InReceiveAsync(message) : OnItsOwnAsync(message);

        private async Task OnItsOwnAsync(PlaceOrder message)
        {
            await using var connection = await data.OpenConnectionAsync();
            await OrderTable.InsertAsync(connection, message, CancellationToken.None);
        }

        private static async Task InReceiveAsync(PlaceOrder message)
        {
            var received = MessageContext.Current.GetReceiveTransaction();
            await OrderTable.InsertAsync(received.Connection!, message, CancellationToken.None);
        }
    }
}
