using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Npgsql;

namespace Orders;

/// <summary>One endpoint with one handler, on the framework and in the mode that the configuration names.</summary>
internal sealed class OrdersApplication : IAsyncDisposable
{
    private readonly Settings settings;
    private readonly IHost host;

    /// <param name="arguments">Settings of the command line.</param>
    /// <exception cref="NotSupportedException">The framework is unknown or not built in, or cannot run in the mode.</exception>
    public OrdersApplication(string[] arguments)
    {
        var builder = Host.CreateApplicationBuilder(new HostApplicationBuilderSettings { Args = arguments, ContentRootPath = AppContext.BaseDirectory });
        settings = Settings.Read(builder.Configuration);
        builder.Services.AddSingleton(_ => NpgsqlDataSource.Create(settings.Data));
        switch (settings.Framework)
        {
            case "bare":
                OnBare.Add(builder.Services, settings);
                break;
            case "masstransit":
                OnMassTransit.Add(builder.Services, settings);
                break;
#if KIT_NSERVICEBUS
            case "nservicebus":
                OnNServiceBus.Add(builder.Services, settings);
                break;
#endif
            default:
                throw new NotSupportedException($"Framework '{settings.Framework}' is unknown, or its packages are not on the package feed.");
        }

        host = builder.Build();
    }

    /// <summary>Makes the table and the queue where they are missing, and starts the endpoint.</summary>
    public async Task StartAsync(CancellationToken cancellationToken)
    {
        await using (var connection = await host.Services.GetRequiredService<NpgsqlDataSource>().OpenConnectionAsync(cancellationToken))
            await OrderTable.CreateAsync(connection, cancellationToken);
        if (settings.Framework is "bare")
            await OnBare.InstallAsync(settings, cancellationToken);

        await host.StartAsync(cancellationToken);
    }

    public Task SendAsync(PlaceOrder order, CancellationToken cancellationToken) => settings.Framework switch
    {
        "bare" => OnBare.SendAsync(settings, order, cancellationToken),
#if KIT_NSERVICEBUS
        "nservicebus" => OnNServiceBus.SendAsync(host.Services, order, cancellationToken),
#endif
        _ => OnMassTransit.SendAsync(host.Services, order, cancellationToken),
    };

    public Task WaitForShutdownAsync(CancellationToken cancellationToken) => host.WaitForShutdownAsync(cancellationToken);

    public async ValueTask DisposeAsync()
    {
        await host.StopAsync();
        await ((IAsyncDisposable)host).DisposeAsync();
    }
}
