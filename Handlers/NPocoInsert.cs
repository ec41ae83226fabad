using System.Data.Common;
using NPoco;
using NPoco.FluentMappings;

namespace Kit.Handlers;

/// <summary>The same insert with NPoco. Compiled where the package feed has it.</summary>
public sealed class NPocoInsert : IWidgetInsert
{
    private static readonly DatabaseFactory Mapped = DatabaseFactory.Config(config =>
        config.WithFluentConfig(FluentMappingConfiguration.Configure(new WidgetMap())));

    public Task InsertAsync(DbConnection connection, Widget widget, CancellationToken cancellationToken)
    {
        // Given an open connection, NPoco neither closes it nor begins a transaction: there is nothing to dispose.
        var database = Mapped.Build(new Database(connection));
        return database.InsertAsync(widget, cancellationToken);
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
