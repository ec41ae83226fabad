using Kit.Endpoints.Bare.PostgreSql.Batches;
using Kit.Modes;

namespace Kit.Endpoints.Bare.PostgreSql.Modes;

/// <summary><c>shared</c>: receive, insert and sends in one local transaction, on the connection that received the message.</summary>
internal static class SharedMode
{
    public static PostgreSqlMode Entry { get; } = new()
    {
        FlushesLast = Support.No("shared has one commit for each message, which is its last: use 'every' or 'none'"),
        FlushesNone = Support.Yes,
        Asynchronous = new(OfReceives: true, OfHandlers: true),
        Batches = Support.Yes,
        Ahead = Support.Yes,
        PrepareAsync = PostgreSqlMode.Each(OpenAsync),
    };

    private static async Task<IReceiver> OpenAsync(EndpointSessions sessions, MessagePipeline worker)
    {
        var session = await sessions.OpenSessionAsync();
        return sessions.InBatches(
            session, new SharedReceiver(session, worker, sessions.Recoverability),
            size => new SharedBatchReceiver(session, size, sessions.PuttingBack, worker, sessions.Recoverability));
    }
}
