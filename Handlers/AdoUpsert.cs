using System.Data.Common;

namespace Kit.Handlers;

/// <summary>An insert that does nothing if the message already has a row: a unique index on the message's id makes it idempotent.</summary>
public sealed class AdoUpsert : IWidgetInsert
{
    public Task InsertAsync(DbConnection connection, DbTransaction? transaction, Widget widget, CancellationToken cancellationToken) =>
        AdoInsert.ExecuteAsync(
            connection,
            "INSERT INTO widget (id, message_id) VALUES (@id, @message_id) ON CONFLICT (message_id) DO NOTHING",
            widget,
            cancellationToken);
}
