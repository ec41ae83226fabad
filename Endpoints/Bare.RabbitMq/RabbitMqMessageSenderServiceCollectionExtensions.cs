using System.Text.Json;
using Kit.Endpoints.Bare;
using Kit.Endpoints.Bare.RabbitMq;

namespace Microsoft.Extensions.DependencyInjection;

/// <summary>Adds a sender to queues in RabbitMQ.</summary>
public static class RabbitMqMessageSenderServiceCollectionExtensions
{
    /// <summary>Adds an <see cref="IMessageSender"/>. It needs no endpoint in the same process, creates no queue, and joins no transaction.</summary>
    /// <param name="services">The host's services.</param>
    /// <param name="broker">The broker's address, in the form of <see cref="RabbitMqAddress"/>.</param>
    /// <param name="json">How messages are serialized; by default <see cref="JsonSerializerOptions.Default"/>.</param>
    /// <exception cref="BrokerException">The address cannot be read.</exception>
    /// <exception cref="InvalidOperationException">There is already a sender.</exception>
    public static IServiceCollection AddRabbitMqMessageSender(this IServiceCollection services, string broker, JsonSerializerOptions? json = null)
    {
        var address = RabbitMqAddress.Parse(broker);
        return services.AddMessageSender(_ => new RabbitMqMessageSender(address, json));
    }
}
