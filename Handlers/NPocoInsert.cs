using System.Data.Common;
using NPoco;
using NPoco.FluentMappings;

namespace Kit.Handlers;

/// <summary>The same insert with NPoco. Compiled only if the package feed has it.</summary>
public sealed class NPocoInsert : IWidgetInsert
{
    private static readonly DatabaseFactory Mapped = DatabaseFactory.Config(config =>
        config.WithFluentConfig(FluentMappingConfiguration.Configure(new WidgetMap())));

    public async Task InsertAsync(DbConnection connection, DbTransaction? transaction, Widget widget, CancellationToken cancellationToken)
    {
        // On a connection that it was given, NPoco begins no transaction, and disposing closes nothing.
        using var database = new Database(connection, connection.GetType().Name == "SqlConnection" ? SqlServer.Type : DatabaseType.PostgreSQL);
        Mapped.Build(database);
        await database.InsertAsync(widget, cancellationToken);
    }

    /// <summary>NPoco's own type for SQL Server is in another package, which reads generated keys and pages; an insert needs neither.</summary>
    private sealed class SqlServer : DatabaseType
    {
        public static DatabaseType Type { get; } = new SqlServer();

        public override string GetProviderName() => "Microsoft.Data.SqlClient";
    }

    private sealed class WidgetMap : Map<Widget>
    {
        public WidgetMap() =>
            TableName("widget")
                .PrimaryKey(widget => widget.Id, autoIncrement: false)
                .Columns(columns =>
                {
                    columns.Column(widget => widget.Id).WithName("id");
                    columns.Column(widget => widget.MessageId).WithName("message_id");
                });
    }
}
