using Kit.Endpoints.Bare.PostgreSql.Batches;
using Kit.Endpoints.Bare.PostgreSql.TwoPhase;
using Kit.Modes;

namespace Kit.Endpoints.Bare.PostgreSql.Modes;

/// <summary><c>full-dtc</c>: receive, insert and sends in one atomic unit, the kit's own two-phase commit.</summary>
internal static class FullDtcMode
{
    /// <param name="isWaiting">Whether a worker finishes the second phase before its next message.</param>
    public static PostgreSqlMode Entry(bool isWaiting) => new()
    {
        FlushesLast = Support.Yes,
        // The receive's commit is the decision. COMMIT PREPARED comes last, and always waits.
        Asynchronous = new(OfReceives: true, OfHandlers: false),
        Batches = Support.Yes,
        Ahead = Support.No("the second phase begins when the commit of the receive is answered, and would wait for the next receive"),
        OpensConnections = true,
        PrepareAsync = (sessions, cancellationToken) => PrepareAsync(sessions, isWaiting, cancellationToken),
    };

    private static async Task<Func<MessagePipeline, Task<IReceiver>>> PrepareAsync(
        EndpointSessions sessions, bool isWaiting, CancellationToken cancellationToken)
    {
        var endpoint = sessions.Endpoint;
        var rows = await ApartServers.AreMeantAsync(sessions, cancellationToken) ? await ApartServers.PrepareAsync(sessions, cancellationToken) : null;
        if (rows is null)
            await sessions.RequireOneServerAsync(cancellationToken);
        var receives = new ReceivesAsDecisions(await QueueDatabase.ReadAsync(sessions.Queues, cancellationToken));
        var mode = await FullDtc.StartAsync(
            rows ?? (IDecisionLog)receives, sessions.DataDatabase.Settings, isWaiting, endpoint.Concurrency, endpoint.Transactions, sessions.Log,
            sessions.Workers.Stopping, cancellationToken);
        sessions.EndAfterWorkers(mode);
        endpoint.Status.Branches = () => mode.BranchesLeft;
        sessions.Workers.Repeat(endpoint.RecoveryInterval, abandoned => mode.RecoverAsync(olderThan: endpoint.RecoveryInterval, abandoned));
        return async worker =>
        {
            var session = await sessions.OpenSessionAsync(withTransactionId: rows is null);
            var decider = rows is null
                ? new OneServerDecider(await sessions.ProveServerAsync(session), receives)
                : await EndpointSessions.OpenOnAsync<IDecider>(
                    session, async () => await WorkerRow.OpenAsync(rows, session.Connection, sessions.Workers.Abandoned));
            return sessions.InBatches(
                session, new FullDtcReceiver(session, decider, mode, worker, sessions.Recoverability),
                size => new FullDtcBatchReceiver(session, size, decider, mode, worker, sessions.Recoverability));
        };
    }
}
