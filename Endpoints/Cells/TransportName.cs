namespace Kit.Endpoints.Cells;

/// <summary>What holds the messages, as cells name it.</summary>
public static class TransportName
{
    public const string PostgreSql = "postgresql";

    public const string RabbitMq = "rabbitmq";

    public const string Learning = "learning";

    public const string SqlServer = "sqlserver";
}
