namespace Kit.Endpoints.Cells;

/// <summary>The frameworks and transports that the kit compares: a new one adds its line here.</summary>
public static class EndpointKinds
{
    public static IReadOnlyList<IEndpointKind> All { get; } =
    [
        new BareOnPostgreSql(),
        new BareOnRabbitMq(),
#if KIT_SQLCLIENT
        new BareOnSqlServer(),
#else
        new MissingEndpointKind("bare", TransportName.SqlServer, "SqlClient"),
#endif
        new MassTransitOnRabbitMq(),
    ];
}
