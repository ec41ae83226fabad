using Rebus.PostgreSql;

namespace Kit.Endpoints.Rebus.PostgreSql;

/// <summary>
/// Opens the transport's connections outside the handler's scope, for sends that have no part in the receive. Rebus would enlist them, and a second enlistment
/// would make the scope a two-phase commit.
/// </summary>
internal sealed class ConnectionsOutsideScope(IPostgresConnectionProvider ordinary) : IPostgresConnectionProvider
{
    public Task<PostgresConnection> GetConnection() => OutsideScope.RunAsync(ordinary.GetConnection);
}
