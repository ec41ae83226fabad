using System.Data.Common;

namespace Kit.Endpoints.Cells;

/// <summary>Asks the widgets' server what a probed cell has done there, on a separate session or on the handler's.</summary>
internal sealed class Onlooker(IEndpointKind kind, EndpointSettings settings) : IAsyncDisposable
{
    private readonly DbDataSource outside = kind.WidgetServer.OpenOutside(settings.Widgets);

    /// <summary>Reads whether the message's row has committed.</summary>
    public async Task<bool> IsRowVisibleAsync(Guid messageId, CancellationToken cancellationToken)
    {
        await using var rows = outside.CreateCommand(kind.WidgetServer.CountQuery);
        var message = rows.CreateParameter();
        message.ParameterName = "message_id";
        message.Value = messageId;
        rows.Parameters.Add(message);
        return (long)(await rows.ExecuteScalarAsync(cancellationToken))! > 0;
    }

    /// <summary>Reads whether the handler's session has deleted from the queue's table in its open transaction. Its lock on the table shows it.</summary>
    public async Task<bool> HasReceivedAsync(DbConnection connection, CancellationToken cancellationToken)
    {
        await using var command = connection.CreateCommand();
        command.CommandText =
            """
            SELECT EXISTS (SELECT FROM pg_locks
                           WHERE pid = pg_backend_pid() AND mode = 'RowExclusiveLock' AND relation = to_regclass(quote_ident(@table)))
            """;
        var name = command.CreateParameter();
        (name.ParameterName, name.Value) = ("table", kind.TableOf(settings.Queue).Name);
        command.Parameters.Add(name);
        return await command.ExecuteScalarAsync(cancellationToken) is true;
    }

    /// <summary>The isolation level of a handler's session, as its server names it.</summary>
    public async Task<string?> IsolationOfAsync(DbConnection connection, CancellationToken cancellationToken)
    {
        await using var command = connection.CreateCommand();
        command.CommandText = kind.WidgetServer.IsolationQuery;
        return (string?)await command.ExecuteScalarAsync(cancellationToken);
    }

    public ValueTask DisposeAsync() => outside.DisposeAsync();
}
