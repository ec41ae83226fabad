using Kit.Endpoints.Bare.PostgreSql.Batches;
using Kit.Endpoints.Bare.PostgreSql.Queues;
using Kit.Endpoints.Bare.Tables;
using Kit.Modes;
using Npgsql;

namespace Kit.Endpoints.Bare.PostgreSql.Modes;

/// <summary><c>transactions-off</c>: the receive commits before the handler runs; each of the handler's statements and sends autocommits.</summary>
internal static class TransactionsOffMode
{
    public static PostgreSqlMode Entry { get; } = new()
    {
        FlushesLast = Support.Yes,
        // The insert comes last. What is sent, and what is given up, is not the receive's to carry.
        Asynchronous = new(OfReceives: true, OfHandlers: false),
        Batches = Support.Yes,
        Ahead = Support.No("its receive commits before the handler runs, so a message that was received ahead would be one more that a crash loses"),
        PrepareAsync = PostgreSqlMode.Each((sessions, worker) => sessions.OpenAsync((session, data) => Open(sessions, session, data, worker))),
    };

    private static IReceiver Open(EndpointSessions sessions, QueueSession session, NpgsqlDataSource data, MessagePipeline worker)
    {
        var patient = new PatientDataSource(new DetachedDataSource(data), sessions.Endpoint.FirstPause, sessions.Log);
        return sessions.InBatches(
            session,
            new TransactionsOffReceiver(sessions.OnlyReceiving(session), patient, worker, sessions.Recoverability),
            size => new TransactionsOffBatchReceiver(session, size, patient, sessions.PuttingBack, worker, sessions.Recoverability));
    }
}
