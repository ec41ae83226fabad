using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;

namespace Kit.Endpoints.Bare;

public static class ServiceCollectionExtensions
{
    /// <summary>Adds an endpoint that starts and stops with the host.</summary>
    /// <example><code>
    /// services.AddBareEndpoint("widgets", endpoint => endpoint
    ///     .UsePostgreSql(queues, widgets)
    ///     .UseTransactionMode(TransactionMode.DtcOff)
    ///     .LimitConcurrency(2)
    ///     .Handle&lt;BuildWidget, BuildWidgetHandler&gt;());
    /// </code></example>
    /// <exception cref="InvalidOperationException">The endpoint has no transport, no mode or no handler.</exception>
    public static IServiceCollection AddBareEndpoint(this IServiceCollection services, string name, Action<BareEndpointBuilder> configure)
    {
        var endpoint = new BareEndpointBuilder(name, services);
        configure(endpoint);
        if (endpoint.Invokers.Count == 0)
            throw new InvalidOperationException($"Endpoint '{name}' handles nothing: call Handle<TMessage, THandler>.");

        _ = endpoint.Mode;
        var create = endpoint.Transport;
        // By a factory, so that the container disposes it.
        services.AddKeyedSingleton(name, (_, _) => endpoint.Status);
        return services.AddSingleton(provider => create(
            new MessagePipeline(provider.GetRequiredService<IServiceScopeFactory>(), endpoint.Invokers),
            provider.GetRequiredService<ILoggerFactory>().CreateLogger($"Kit.Endpoints.Bare.{name}")));
    }
}
