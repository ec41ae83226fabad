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
        new MissingEndpointKind(FactsOfBare.Facts, TransportName.SqlServer, "SqlClient"),
#endif
        new MassTransitOnRabbitMq(),
        new RebusOnPostgreSql(),
        new WolverineOnPostgreSql(),
        new WolverineOnRabbitMq(),
#if KIT_NSERVICEBUS
        new NServiceBusOnPostgreSql(),
        new NServiceBusOnPostgreSqlApart(),
        new NServiceBusOnRabbitMq(),
#if KIT_SQLCLIENT
        new NServiceBusOnSqlServer(),
#else
        new MissingEndpointKind(FactsOfNServiceBus.Facts, TransportName.SqlServer, "SqlClient"),
#endif
        new NServiceBusOnLearning(),
#else
        new MissingEndpointKind(FactsOfNServiceBus.Facts, TransportName.PostgreSql, "NServiceBus"),
        new MissingEndpointKind(FactsOfNServiceBus.Facts, TransportName.PostgreSqlApart, "NServiceBus"),
        new MissingEndpointKind(FactsOfNServiceBus.Facts, TransportName.RabbitMq, "NServiceBus"),
        new MissingEndpointKind(FactsOfNServiceBus.Facts, TransportName.SqlServer, "NServiceBus"),
        new MissingEndpointKind(FactsOfNServiceBus.Facts, TransportName.Learning, "NServiceBus"),
#endif
    ];

    /// <summary>The frameworks, each once.</summary>
    public static IReadOnlyList<FrameworkFacts> Frameworks { get; } = [.. All.Select(kind => kind.Facts).Distinct()];
}
