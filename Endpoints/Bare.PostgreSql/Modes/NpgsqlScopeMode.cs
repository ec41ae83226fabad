using Kit.Modes;

namespace Kit.Endpoints.Bare.PostgreSql.Modes;

/// <summary><c>npgsql-scope</c>: receive, insert and sends on two connections in one TransactionScope, which the driver commits in two phases.</summary>
internal static class NpgsqlScopeMode
{
    public static PostgreSqlMode Entry { get; } = new()
    {
        FlushesLast = Support.No("the driver commits both branches, and nobody recovers what a crash leaves: use 'every'"),
        Batches = Support.No("the driver ends a scope's transaction as a whole, so one message could not be rolled back alone"),
        Ahead = Support.No("the driver commits the receive, together with the scope"),
        OpensConnections = true,
        IsEnlisted = true,
        PrepareAsync = PostgreSqlMode.Each((sessions, worker) => Task.FromResult<IReceiver>(new NpgsqlScopeReceiver(
            () => sessions.OpenSessionAsync(), sessions.Data, sessions.Endpoint.Transactions, worker, sessions.Recoverability))),
    };
}
