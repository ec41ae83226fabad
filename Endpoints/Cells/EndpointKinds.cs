namespace Kit.Endpoints.Cells;

/// <summary>The frameworks and transports that the kit compares. A new one adds a line here.</summary>
public static class EndpointKinds
{
    public static IReadOnlyList<IEndpointKind> All { get; } =
    [
        new BareOnPostgreSql(),
        new BareOnPostgreSqlApart(),
        new BareOnRabbitMq(),
#if KIT_SQLCLIENT
        new BareOnSqlServer(),
#else
        new MissingEndpointKind("bare", TransportName.SqlServer, "SqlClient"),
#endif
        new MassTransitOnRabbitMq(),
#if KIT_NSERVICEBUS
        new NServiceBusOnPostgreSql(),
        new NServiceBusOnRabbitMq(),
#if KIT_SQLCLIENT
        new NServiceBusOnSqlServer(),
#else
        new MissingEndpointKind("nservicebus", TransportName.SqlServer, "SqlClient"),
#endif
        new NServiceBusOnLearning(),
#else
        new MissingEndpointKind("nservicebus", TransportName.PostgreSql, "NServiceBus"),
        new MissingEndpointKind("nservicebus", TransportName.RabbitMq, "NServiceBus"),
        new MissingEndpointKind("nservicebus", TransportName.SqlServer, "NServiceBus"),
        new MissingEndpointKind("nservicebus", TransportName.Learning, "NServiceBus"),
#endif
    ];
}
