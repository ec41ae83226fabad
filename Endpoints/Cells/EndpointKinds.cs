#if !KIT_NSERVICEBUS
using Kit.Modes;
#endif

namespace Kit.Endpoints.Cells;

/// <summary>The frameworks and transports that the kit compares: a new one adds its line here.</summary>
public static class EndpointKinds
{
    public static IReadOnlyList<IEndpointKind> All { get; } =
    [
        new BareOnPostgreSql(),
        new BareOnRabbitMq(),
        new MassTransitOnRabbitMq(),
#if KIT_NSERVICEBUS
        new NServiceBusOnPostgreSql(),
        new NServiceBusOnRabbitMq(),
        new NServiceBusOnLearning(),
#else
        Missing("nservicebus", TransportName.PostgreSql, "NServiceBus"),
        Missing("nservicebus", TransportName.RabbitMq, "NServiceBus"),
        Missing("nservicebus", TransportName.Learning, "NServiceBus"),
#endif
    ];

#if !KIT_NSERVICEBUS
    private static MissingKind Missing(string framework, string transport, string package) =>
        new(framework, transport, OptionalPackage.Of(typeof(EndpointKinds).Assembly).Single(optional => optional.Name.Equals(package, StringComparison.Ordinal)).Support);
#endif
}
