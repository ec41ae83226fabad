using Kit.Endpoints.Bare.Outbox;
using Kit.Modes;

namespace Kit.Endpoints.Bare.PostgreSql.Modes;

/// <summary><c>outbox</c>: the handler's transaction commits first, with the message's id and its sends. They are dispatched with the receive.</summary>
internal static class OutboxMode
{
    public static PostgreSqlMode Entry { get; } = new()
    {
        FlushesLast = Support.Yes,
        Asynchronous = new(OfReceives: false, OfHandlers: true),
        Batches = Support.No("its record of a message, its dispatch and its receive are built for one message at a time"),
        Ahead = Support.No("after the commit of the receive it forgets the sends, and the next message would wait for that"),
        PrepareAsync = PrepareAsync,
    };

    private static async Task<Func<MessagePipeline, Task<IReceiver>>> PrepareAsync(EndpointSessions sessions, CancellationToken cancellationToken)
    {
        var endpoint = sessions.Endpoint;
        var outbox = new OutboxStore(sessions.Data, endpoint.Name, endpoint.Mode.Isolation, endpoint.HandledIdsAreKept)
        {
            IsFlushed = sessions.IsFlushed,
            Log = sessions.Log,
        };
        await outbox.CreateAsync(cancellationToken);
        var unanswered = new UnansweredReceives(outbox);
        var dispatcher = OutboxDispatcher.Start(
            outbox, stop => QueueSender.OpenAsync(sessions.QueueDatabase, unanswered, stop), endpoint.OutboxSchedule, sessions.Log);
        sessions.EndAfterWorkers(dispatcher);
        endpoint.Status.Outbox = () => dispatcher.Backlog;
        return worker => sessions.OpenAsync(
            (session, data) => new OutboxReceiver(session, outbox, outbox.HandlersOn(data), dispatcher, unanswered, worker, sessions.Recoverability),
            withTransactionId: true);
    }
}
