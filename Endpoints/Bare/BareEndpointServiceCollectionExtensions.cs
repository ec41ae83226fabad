using System.Diagnostics.CodeAnalysis;
using Kit.Endpoints.Bare;
using Kit.Endpoints.Bare.Health;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;

namespace Microsoft.Extensions.DependencyInjection;

/// <summary>Adds endpoints that run on a driver alone.</summary>
public static class BareEndpointServiceCollectionExtensions
{
    /// <summary>Adds an endpoint that starts and stops with the host.</summary>
    /// <example><code>
    /// services.AddBareEndpoint("widgets", endpoint => endpoint
    ///     .UsePostgreSql(connectionString)
    ///     .UseTransactionMode(TransactionMode.DtcOff)
    ///     .Handle&lt;BuildWidget, BuildWidgetHandler&gt;());
    /// </code></example>
    /// <param name="services">The host's services.</param>
    /// <param name="name">The name of the endpoint and of its queue.</param>
    /// <param name="configure">Gives it a transport, a mode and handlers.</param>
    /// <exception cref="InvalidOperationException">The endpoint has no transport, no mode or no handler, or one with that name exists.</exception>
    public static IServiceCollection AddBareEndpoint(this IServiceCollection services, string name, Action<BareEndpointBuilder> configure)
    {
        ArgumentNullException.ThrowIfNull(services);
        ArgumentNullException.ThrowIfNull(configure);
        var endpoint = new BareEndpointBuilder(name, services);
        configure(endpoint);
        endpoint.RequireWhole();
        return services.AddEndpoint(name, _ => endpoint);
    }

    /// <summary>Adds an endpoint that is configured when the host starts, with services such as a data source or options.</summary>
    /// <example><code>
    /// services.AddBareEndpoint("widgets", (provider, endpoint) => endpoint
    ///     .UsePostgreSql(provider.GetRequiredService&lt;NpgsqlDataSource&gt;())
    ///     .UseTransactionMode(TransactionMode.Shared)
    ///     .Handle&lt;BuildWidget, BuildWidgetHandler&gt;());
    /// </code></example>
    /// <param name="services">The host's services.</param>
    /// <param name="name">The name of the endpoint and of its queue.</param>
    /// <param name="configure">Gives it a transport, a mode and handlers. If one is missing, the host fails to start.</param>
    /// <exception cref="InvalidOperationException">An endpoint with that name exists.</exception>
    public static IServiceCollection AddBareEndpoint(
        this IServiceCollection services, string name, Action<IServiceProvider, BareEndpointBuilder> configure)
    {
        ArgumentNullException.ThrowIfNull(services);
        ArgumentNullException.ThrowIfNull(configure);
        return services.AddEndpoint(name, provider =>
        {
            var endpoint = new BareEndpointBuilder(name, services: null);
            configure(provider, endpoint);
            endpoint.RequireWhole();
            return endpoint;
        });
    }

    [SuppressMessage("Reliability", "CA2000:Dispose objects before losing scope", Justification = "The container disposes what a factory gives it.")]
    private static IServiceCollection AddEndpoint(this IServiceCollection services, string name, Func<IServiceProvider, BareEndpointBuilder> make)
    {
        if (services.Any(service => service.ServiceType == typeof(BareEndpointBuilder) && name.Equals(service.ServiceKey)))
            throw new InvalidOperationException($"An endpoint '{name}' already exists. Two would receive from one queue, each in its own mode.");

        services.AddKeyedSingleton(name, (provider, _) => make(provider));
        services.AddKeyedSingleton(name, (provider, _) => provider.GetRequiredKeyedService<BareEndpointBuilder>(name).Status);
        return services.AddSingleton<IHostedService>(provider =>
        {
            var endpoint = provider.GetRequiredKeyedService<BareEndpointBuilder>(name);
            // Resolved here, so that the container disposes it with its gauges.
            _ = provider.GetRequiredKeyedService<EndpointStatus>(name);
            return endpoint.Transport(
                new MessagePipeline(provider.GetRequiredService<IServiceScopeFactory>(), endpoint),
                provider.GetRequiredService<ILoggerFactory>().CreateLogger($"Kit.Endpoints.Bare.{name}"));
        });
    }

    private static void RequireWhole(this BareEndpointBuilder endpoint)
    {
        if (endpoint.Invokers.Count == 0)
            throw new InvalidOperationException($"Endpoint '{endpoint.Name}' has no handler: call Handle<TMessage, THandler>.");

        _ = endpoint.Mode;
        _ = endpoint.Transport;
    }
}
