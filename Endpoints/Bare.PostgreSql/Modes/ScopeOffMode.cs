using Kit.Endpoints.Bare.PostgreSql.Batches;
using Kit.Endpoints.Bare.Tables;
using Kit.Modes;

namespace Kit.Endpoints.Bare.PostgreSql.Modes;

/// <summary><c>scope-off</c>: each statement of the handler autocommits, then the receive commits with the sends.</summary>
internal static class ScopeOffMode
{
    public static PostgreSqlMode Entry { get; } = new()
    {
        FlushesLast = Support.Yes,
        Asynchronous = new(OfReceives: false, OfHandlers: true),
        Batches = Support.Yes,
        Ahead = Support.Yes,
        PrepareAsync = PostgreSqlMode.Each((sessions, worker) => sessions.OpenAsync((session, data) => sessions.InBatches(
            session,
            new ScopeOffReceiver(session, new DetachedDataSource(data), worker, sessions.Recoverability),
            size => new ScopeOffBatchReceiver(session, size, new DetachedDataSource(data), worker, sessions.Recoverability)))),
    };
}
