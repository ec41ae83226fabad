namespace Kit.Endpoints.Cells;

/// <summary>The names of the transports in cells.</summary>
public static class TransportName
{
    public const string PostgreSql = "postgresql";

    public const string RabbitMq = "rabbitmq";

    public const string Learning = "learning";

    public const string SqlServer = "sqlserver";
}
