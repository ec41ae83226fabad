using Microsoft.Extensions.DependencyInjection;

namespace Kit.Endpoints.Bare;

/// <summary>What the transports' <c>Add…MessageSender</c> have in common.</summary>
internal static class MessageSenderServices
{
    /// <param name="services">The host's services.</param>
    /// <param name="create">Creates the sender.</param>
    /// <param name="key">Its key; <see langword="null"/>: it has none.</param>
    /// <exception cref="InvalidOperationException">There is already a sender.</exception>
    public static IServiceCollection AddMessageSender(
        this IServiceCollection services, Func<IServiceProvider, IMessageSender> create, object? key = null)
    {
        ArgumentNullException.ThrowIfNull(services);
        if (services.Any(service => service.ServiceType == typeof(IMessageSender) && Equals(service.ServiceKey, key)))
        {
            throw new InvalidOperationException(
                $"There is already an IMessageSender{(key is null ? "" : $" with the key '{key}'")}, and a second one would replace it: add one, for one " +
                "transport.");
        }

        return services.AddKeyedSingleton(key, (provider, _) => create(provider));
    }
}
