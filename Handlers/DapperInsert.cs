using System.Data.Common;
using Dapper;

namespace Kit.Handlers;

/// <summary>The same insert with Dapper.</summary>
public sealed class DapperInsert : IWidgetInsert
{
    public Task InsertAsync(DbConnection connection, DbTransaction? transaction, Widget widget, CancellationToken cancellationToken) =>
        connection.ExecuteAsync(new CommandDefinition(
            "INSERT INTO widget (id, message_id) VALUES (@Id, @MessageId)", widget, cancellationToken: cancellationToken));
}
