using System.Text.Json;
using Kit.Endpoints.Bare;
using Kit.Endpoints.Bare.RabbitMq;

namespace Microsoft.Extensions.DependencyInjection;

/// <summary>Adds a sender into queues of RabbitMQ.</summary>
public static class RabbitMqMessageSenderServiceCollectionExtensions
{
    /// <summary>Adds an <see cref="IMessageSender"/>. It needs no endpoint in its process, creates no queue, and takes part in no transaction.</summary>
    /// <param name="services">The host's.</param>
    /// <param name="broker">As <see cref="RabbitMqAddress"/> reads it.</param>
    /// <param name="json">How messages are written: as <see cref="JsonSerializerOptions.Default"/> says when not given.</param>
    /// <exception cref="BrokerException">The address cannot be read.</exception>
    /// <exception cref="InvalidOperationException">There is a sender already.</exception>
    public static IServiceCollection AddRabbitMqMessageSender(this IServiceCollection services, string broker, JsonSerializerOptions? json = null)
    {
        var address = RabbitMqAddress.Parse(broker);
        return services.AddMessageSender(_ => new RabbitMqMessageSender(address, json));
    }
}
