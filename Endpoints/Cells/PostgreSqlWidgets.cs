using Kit.Modes;
using Npgsql;

namespace Kit.Endpoints.Cells;

/// <summary>The widgets in PostgreSQL as a framework's handlers connect to them: enlisted where the mode has a scope around the handler.</summary>
internal static class PostgreSqlWidgets
{
    public static NpgsqlDataSource Open(EndpointSettings settings) =>
        NpgsqlDataSource.Create(new NpgsqlConnectionStringBuilder(settings.Widgets) { Enlist = settings.Mode == TransactionMode.DtcOff });
}
