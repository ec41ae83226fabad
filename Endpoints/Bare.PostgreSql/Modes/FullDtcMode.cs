using Kit.Endpoints.Bare.PostgreSql.Batches;
using Kit.Endpoints.Bare.PostgreSql.Queues;
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
        Participants = Support.Yes,
        OpensConnections = true,
        PrepareAsync = (sessions, cancellationToken) => PrepareAsync(sessions, isWaiting, cancellationToken),
    };

    private static async Task<Func<MessagePipeline, Task<IReceiver>>> PrepareAsync(
        EndpointSessions sessions, bool isWaiting, CancellationToken cancellationToken)
    {
        var queue = await QueueDatabase.ReadAsync(sessions.Queues, cancellationToken);
        var data = await QueueDatabase.ReadAsync(sessions.Data, cancellationToken);
        // A copy of a server has the identifier of its origin, and is refused.
        return queue.SystemIdentifier == data.SystemIdentifier && sessions.Endpoint.Participants.Count == 0
            ? await OnOneServerAsync(sessions, queue, isWaiting, cancellationToken)
            : await OnAnyServersAsync(sessions, isWaiting, cancellationToken);
    }

    private static async Task<Func<MessagePipeline, Task<IReceiver>>> OnOneServerAsync(
        EndpointSessions sessions, QueueDatabase queue, bool isWaiting, CancellationToken cancellationToken)
    {
        await sessions.RequireOneServerAsync(cancellationToken);
        var receives = new ReceivesAsDecisions(queue);
        return await StartAsync(
            sessions, sessions.InTwoPhases, [new DecidedParticipant(sessions.Participants[0], receives, Sharing: 1)], withTransactionId: true,
            async session => new OneServerDecider(await sessions.ProveServerAsync(session), receives), isWaiting, cancellationToken);
    }

    private static async Task<Func<MessagePipeline, Task<IReceiver>>> OnAnyServersAsync(
        EndpointSessions sessions, bool isWaiting, CancellationToken cancellationToken)
    {
        var endpoint = sessions.InTwoPhases;
        var (rows, participants) = await ApartServers.PrepareAsync(
            endpoint, sessions.QueueDatabase, sessions.Queues, sessions.Participants, sessions.OpenData, cancellationToken);
        foreach (var pair in rows.Pairs)
            sessions.AddHandlersData(pair.Data, pair.Participant.Database);
        sessions.Places = [.. rows.Pairs.Select(pair => pair.Place)];
        var open = await StartAsync(
            sessions, endpoint, participants, withTransactionId: false,
            async session => await WorkerRow.OpenAsync(rows, session.Connection, sessions.Workers.Abandoned), isWaiting, cancellationToken);
        if (participants.Count > 1)
            await RemovedParticipants.RememberAsync(endpoint.Name, sessions.Queues, rows.Pairs, cancellationToken);
        return open;
    }

    private static async Task<Func<MessagePipeline, Task<IReceiver>>> StartAsync(
        EndpointSessions sessions, TwoPhaseEndpoint endpoint, IReadOnlyList<DecidedParticipant> participants, bool withTransactionId,
        Func<QueueSession, Task<IDecider>> openDecider, bool isWaiting, CancellationToken cancellationToken)
    {
        var mode = await FullDtc.StartAsync(endpoint, participants, isWaiting, cancellationToken);
        return async worker =>
        {
            var session = await sessions.OpenSessionAsync(withTransactionId);
            var decider = await EndpointSessions.OpenOnAsync(session, () => openDecider(session));
            return sessions.InBatches(
                session, new FullDtcReceiver(session, decider, mode, worker, sessions.Recoverability),
                size => new FullDtcBatchReceiver(session, size, decider, mode, worker, sessions.Recoverability));
        };
    }
}
