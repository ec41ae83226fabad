using System.Data.Common;
#if KIT_SQLCLIENT
using Microsoft.Data.SqlClient;
#endif
using Npgsql;

namespace Kit.Endpoints.Cells;

/// <summary>The database server that holds a cell's widgets, as seen from outside.</summary>
public sealed class WidgetServer
{
    private readonly Func<string, DbDataSource> open;

    private WidgetServer(Func<string, DbDataSource> open) => this.open = open;

    public static WidgetServer PostgreSql { get; } = new(
        widgets => NpgsqlDataSource.Create(new NpgsqlConnectionStringBuilder(widgets) { Enlist = false, Pooling = false }))
    {
        IsolationQuery = "SHOW transaction_isolation",
        CountQuery = "SELECT count(*) FROM widget WHERE message_id = @message_id",
    };

#if KIT_SQLCLIENT
    public static WidgetServer SqlServer { get; } = new(
        widgets => SqlClientFactory.Instance.CreateDataSource(new SqlConnectionStringBuilder(widgets) { Enlist = false, Pooling = false }.ConnectionString))
    {
        IsolationQuery =
            """
            SELECT CASE transaction_isolation_level
                WHEN 1 THEN 'read uncommitted' WHEN 2 THEN 'read committed' WHEN 3 THEN 'repeatable read' WHEN 4 THEN 'serializable' WHEN 5 THEN 'snapshot'
                ELSE 'unspecified' END
            FROM sys.dm_exec_sessions WHERE session_id = @@SPID
            """,
        // Without row versions the query would wait for the row that it looks for.
        CountQuery = "SET TRANSACTION ISOLATION LEVEL SNAPSHOT; SELECT count_big(*) FROM widget WHERE message_id = @message_id",
    };
#endif

    /// <summary>Returns the isolation level of the connection that it runs on, in lower case.</summary>
    public required string IsolationQuery { get; init; }

    /// <summary>Counts the committed rows of the message <c>@message_id</c>, and waits for no lock.</summary>
    public required string CountQuery { get; init; }

    /// <summary>Opens a source of connections that join no ambient transaction and are not pooled.</summary>
    public DbDataSource OpenOutside(string widgets) => open(widgets);
}
