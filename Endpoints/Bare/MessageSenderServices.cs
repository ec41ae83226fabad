using Microsoft.Extensions.DependencyInjection;

namespace Kit.Endpoints.Bare;

/// <summary>What the transports' <c>Add…MessageSender</c> have in common.</summary>
internal static class MessageSenderServices
{
    /// <exception cref="InvalidOperationException">There is a sender already.</exception>
    public static IServiceCollection AddMessageSender(this IServiceCollection services, Func<IServiceProvider, IMessageSender> create)
    {
        ArgumentNullException.ThrowIfNull(services);
        if (services.Any(service => service.ServiceType == typeof(IMessageSender) && service.ServiceKey is null))
            throw new InvalidOperationException("There is an IMessageSender already, and another one would take its place: add one, for one transport.");

        return services.AddSingleton(create);
    }
}
