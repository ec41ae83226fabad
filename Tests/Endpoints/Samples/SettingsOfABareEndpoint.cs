using Kit.Endpoints.Bare;
using Kit.Modes;
using Kit.Tests.Bare;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Orders;
using static Orders.OnBare;

namespace Kit.Tests.Samples;

/// <summary>The settings that pages show, as an application would write them.</summary>
[Parallelizable]
public sealed class SettingsOfABareEndpoint
{
    [Test]
    public Task An_endpoint_that_receives_in_batches_starts() => StartsAsync((services, settings) =>
    {
        services.AddBareEndpoint("orders", endpoint => endpoint
            .UsePostgreSql(settings.Queues, settings.Data)
            .UseTransactionMode(TransactionMode.FullDtc)
            .ReceiveInBatches(50)
            .Handle<PlaceOrder, PlaceOrderHandler>());
    });

    [Test]
    public Task An_endpoint_with_fewer_flushes_starts() => StartsAsync((services, settings) =>
    {
        services.AddBareEndpoint("orders", endpoint => endpoint
            .UsePostgreSql(settings.Queues, settings.Data)
            .UseTransactionMode(TransactionMode.FullDtc)
            .FlushLog(LogFlush.Last)
            .Handle<PlaceOrder, PlaceOrderHandler>());
    });

    [Test]
    public Task An_endpoint_with_delays_between_retries_starts() => StartsAsync((services, settings) =>
    {
        services.AddBareEndpoint("orders", endpoint => endpoint
            .UsePostgreSql(settings.Queues, settings.Data)
            .UseTransactionMode(TransactionMode.FullDtc)
            .DelayRetries(TimeSpan.FromSeconds(1), TimeSpan.FromSeconds(5))
            .Handle<PlaceOrder, PlaceOrderHandler>());
    });

    private static async Task StartsAsync(Action<IServiceCollection, (string Queues, string Data)> add)
    {
        await using var bench = await BareBench.CreateAsync();
        var host = Host.CreateEmptyApplicationBuilder(settings: null);
        add(host.Services, (bench.Databases.Queue, bench.Databases.Widgets));
        using var application = host.Build();

        Assert.That(() => application.StartAsync(), Throws.Nothing);
        await application.StopAsync();
    }
}
