namespace Kit.Endpoints.Cells;

/// <summary>The names of the transports in cells.</summary>
public static class TransportName
{
    public const string PostgreSql = "postgresql";

    /// <summary>Queues on a PostgreSQL server of their own; the widgets are on that of <see cref="PostgreSql"/>.</summary>
    public const string PostgreSqlApart = "postgresql-apart";

    public const string RabbitMq = "rabbitmq";

    public const string Learning = "learning";

    public const string SqlServer = "sqlserver";
}
