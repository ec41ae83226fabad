using Kit.Modes;
using Npgsql;

namespace Kit.Endpoints.Cells;

/// <summary>The connections of a framework's handlers to the widgets in PostgreSQL, enlisted if the mode has a scope around the handler.</summary>
internal static class HandlerConnections
{
    public static NpgsqlDataSource Open(EndpointSettings settings) =>
        NpgsqlDataSource.Create(new NpgsqlConnectionStringBuilder(settings.Widgets) { Enlist = settings.Mode == TransactionMode.DtcOff });
}
