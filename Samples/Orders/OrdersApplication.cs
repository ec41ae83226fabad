using Kit.Endpoints.Bare.PostgreSql;
using Kit.Endpoints.MassTransit;
#if KIT_NSERVICEBUS
using Kit.Endpoints.NServiceBus;
#endif
using Kit.Endpoints.Rebus.PostgreSql;
using Kit.Endpoints.Wolverine;
using Kit.Modes;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;
using Npgsql;

namespace Orders;

/// <summary>One endpoint with one handler, on the framework and in the mode that the configuration names.</summary>
internal sealed class OrdersApplication : IAsyncDisposable
{
    private readonly Settings settings;
    private readonly IHost host;

    /// <param name="arguments">Settings from the command line.</param>
    /// <exception cref="SettingsException">
    /// A setting is missing or cannot be read; or the framework is unknown, not built in, or cannot run in the mode.
    /// </exception>
    public OrdersApplication(string[] arguments)
    {
        var builder = Host.CreateApplicationBuilder(new HostApplicationBuilderSettings { Args = arguments, ContentRootPath = AppContext.BaseDirectory });
        settings = Settings.Read(builder.Configuration);
        if (SupportOf(settings).Because is { } reason)
            throw new SettingsException($"The framework '{settings.Framework}' cannot run in {settings.Mode}: {reason}.");

        RequireOneDatabase(settings);
        if (settings is { SendOnly: not null, Framework: not "bare" })
            throw new SettingsException("The setting 'SendOnly' is for the framework 'bare': the others send only while their endpoint runs.");
#if KIT_NSERVICEBUS
        RequirePersistence(settings);
#endif
        builder.Services.AddSingleton(_ => NpgsqlDataSource.Create(settings.Data));
        switch (settings.Framework)
        {
            case "bare":
                OnBare.Add(builder.Services, settings);
                break;
            case "masstransit":
                OnMassTransit.Add(builder.Services, settings);
                break;
            case "rebus":
                OnRebus.Add(builder.Services, settings);
                break;
            case "wolverine":
                OnWolverine.Add(builder.Services, settings);
                break;
#if KIT_NSERVICEBUS
            case "nservicebus":
                OnNServiceBus.Add(builder.Services, settings);
                break;
#endif
            default:
                throw NoSuchFramework(settings);
        }

        host = builder.Build();
    }

    /// <summary>Whether it sends itself an order when it has started.</summary>
    public bool SendsAtStart => settings.SendsAtStart;

    /// <summary>The only order that it is to send, without a start; <see langword="null"/>: it is to start.</summary>
    public PlaceOrder? Only => settings.SendOnly is { } order ? new PlaceOrder(order) : null;

    /// <summary>Creates the table if it is missing, and starts the endpoint, which creates its queue.</summary>
    /// <exception cref="SettingsException">A server cannot be reached, or lacks something that the mode needs. The message says what.</exception>
    public async Task StartAsync(CancellationToken cancellationToken)
    {
        try
        {
            await using (var connection = await host.Services.GetRequiredService<NpgsqlDataSource>().OpenConnectionAsync(cancellationToken))
                await OrderTable.CreateAsync(connection, cancellationToken);

            await host.StartAsync(cancellationToken);
        }
        catch (Exception failure) when (failure is not OperationCanceledException)
        {
            throw new SettingsException($"The endpoint cannot start in {settings.Mode} with these settings: {OnOneLine(failure.Message)}", failure);
        }
    }

    public Task SendAsync(PlaceOrder order, CancellationToken cancellationToken) => settings.Framework switch
    {
        "bare" => OnBare.SendAsync(host.Services, order, cancellationToken),
#if KIT_NSERVICEBUS
        "nservicebus" => OnNServiceBus.SendAsync(host.Services, order, cancellationToken),
#endif
        "masstransit" => OnMassTransit.SendAsync(host.Services, order, cancellationToken),
        "rebus" => OnRebus.SendAsync(host.Services, order),
        "wolverine" => OnWolverine.SendAsync(host.Services, order),
        _ => throw NoSuchFramework(settings),
    };

    public Task WaitForShutdownAsync(CancellationToken cancellationToken) => host.WaitForShutdownAsync(cancellationToken);

    public async ValueTask DisposeAsync()
    {
        await host.StopAsync();
        await ((IAsyncDisposable)host).DisposeAsync();
    }

    private static void RequireOneDatabase(Settings settings)
    {
        var needsOne = settings.Mode.NeedsOneDatabase || (settings.Framework is "wolverine" && settings.Mode == TransactionMode.Outbox);
        if (needsOne && settings.Queues != settings.Data)
        {
            throw new SettingsException(
                $"In {settings.Mode}, the settings 'Queues' and 'Data' must be one connection string, because queue and orders are in one database. " +
                "Give both: --Queues \"…\" --Data \"…\".");
        }
    }

#if KIT_NSERVICEBUS
    private static void RequirePersistence(Settings settings)
    {
        if (settings is { Framework: "nservicebus" } && settings.Mode == TransactionMode.Outbox)
        {
            throw new SettingsException(
                "On NServiceBus, outbox needs a persistence, and this application has none. docs/guides/nservicebus.md shows one. Choose another mode.");
        }
    }

#endif
    private static string OnOneLine(string text) =>
        string.Join(' ', text.Split(['\r', '\n'], StringSplitOptions.RemoveEmptyEntries | StringSplitOptions.TrimEntries));

    private static Support SupportOf(Settings settings) => settings.Framework switch
    {
        "bare" => PostgreSqlSupport.Of(settings.Mode),
        "masstransit" => MassTransitSupport.Of(settings.Mode),
        "rebus" => RebusSupport.Of(settings.Mode),
        "wolverine" => WolverineSupport.Of(settings.Mode),
#if KIT_NSERVICEBUS
        "nservicebus" => NServiceBusSupport.Of(settings.Mode, OnNServiceBus.TransportOf(settings)),
#else
        "nservicebus" => throw new SettingsException($"The framework 'nservicebus' is not built in: {Missing}. Build the sample with a feed that has it."),
#endif
        _ => throw NoSuchFramework(settings),
    };

#if !KIT_NSERVICEBUS
    private static string Missing =>
        string.Join("; ", OptionalPackage.Of(typeof(OrdersApplication).Assembly).Select(package => package.Support.Because));

#endif
    private static SettingsException NoSuchFramework(Settings settings) =>
        new($"There is no framework '{settings.Framework}'. Frameworks: bare, masstransit, nservicebus, rebus, wolverine.");
}
