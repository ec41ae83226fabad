using Kit.Endpoints.Bare.PostgreSql.Batches;
using Kit.Endpoints.Bare.Tables;
using Kit.Modes;

namespace Kit.Endpoints.Bare.PostgreSql.Modes;

/// <summary><c>dtc-off</c>: the handler's scope commits first, then the receive with the sends.</summary>
internal static class DtcOffMode
{
    public static PostgreSqlMode Entry { get; } = new()
    {
        FlushesLast = Support.Yes,
        Asynchronous = new(OfReceives: false, OfHandlers: true),
        Batches = Support.Yes,
        Ahead = Support.Yes,
        PrepareAsync = PostgreSqlMode.Each((sessions, worker) => sessions.OpenAsync((session, data) => sessions.InBatches(
            session,
            new DtcOffReceiver(
                session, new LocalTransactionScope(data, sessions.Endpoint.Transactions) { IsFlushed = sessions.IsFlushed }, worker, sessions.Recoverability),
            size => new DtcOffBatchReceiver(session, size, data, sessions.Endpoint.Transactions, worker, sessions.Recoverability)
            {
                IsFlushed = sessions.IsFlushed,
            }))),
    };
}
