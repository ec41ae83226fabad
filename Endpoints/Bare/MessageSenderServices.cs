using Microsoft.Extensions.DependencyInjection;

namespace Kit.Endpoints.Bare;

/// <summary>What the transports' <c>Add…MessageSender</c> have in common.</summary>
internal static class MessageSenderServices
{
    /// <exception cref="InvalidOperationException">There is already a sender.</exception>
    public static IServiceCollection AddMessageSender(this IServiceCollection services, Func<IServiceProvider, IMessageSender> create)
    {
        ArgumentNullException.ThrowIfNull(services);
        if (services.Any(service => service.ServiceType == typeof(IMessageSender) && service.ServiceKey is null))
            throw new InvalidOperationException("There is already an IMessageSender, and a second one would replace it: add one, for one transport.");

        return services.AddSingleton(create);
    }
}
