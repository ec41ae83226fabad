using System.Data;
using System.Data.Common;

namespace Kit.Handlers;

/// <summary>Hand-written ADO.NET: the baseline.</summary>
public sealed class AdoInsert : IWidgetInsert
{
    public Task InsertAsync(DbConnection connection, DbTransaction? transaction, Widget widget, CancellationToken cancellationToken) =>
        ExecuteAsync(connection, "INSERT INTO widget (id, message_id) VALUES (@id, @message_id)", widget, cancellationToken);

    /// <summary>Runs a statement with a widget's columns as parameters.</summary>
    internal static async Task ExecuteAsync(DbConnection connection, string statement, Widget widget, CancellationToken cancellationToken)
    {
        await using var command = connection.CreateCommand();
        command.CommandText = statement;
        command.AddParameter("id", DbType.Int64, widget.Id);
        command.AddParameter("message_id", DbType.Guid, widget.MessageId);
        await command.ExecuteNonQueryAsync(cancellationToken);
    }
}
