using Kit.Endpoints.Bare.PostgreSql.Modes;
using Kit.Endpoints.Bare.PostgreSql.TwoPhase;
using Kit.Endpoints.Bare.Tables;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;
using Npgsql;

namespace Kit.Endpoints.Bare.PostgreSql;

/// <summary>Runs the workers of one endpoint between the host's start and stop.</summary>
internal sealed class PostgreSqlEndpoint(
    BareEndpointBuilder endpoint, DatabaseAccess queueDatabase, DatabaseAccess dataDatabase, MessagePipeline pipeline, ILogger log)
    : IHostedService, IAsyncDisposable
{
    /// <summary>OpenTelemetry's name for it.</summary>
    public const string MessagingSystem = "postgresql";

    private readonly Workers workers = new(endpoint.FirstPause, endpoint.Status, endpoint.Running, log);
    private EndpointSessions? sessions;

    /// <exception cref="NpgsqlException">A database cannot be reached.</exception>
    /// <exception cref="NotSupportedException">The transport has no such mode, or not with these flushes or batches.</exception>
    /// <exception cref="InvalidOperationException">The server lacks what the mode needs.</exception>
    public async Task StartAsync(CancellationToken cancellationToken)
    {
        // The host may be started inside an ambient transaction, which the endpoint must not join.
        using var detached = DetachedDataSource.Detach();
        var supported = new TransportSupport(PostgreSqlSupport.Of(endpoint.Mode))
        {
            Flush = PostgreSqlSupport.Of(endpoint.Mode, endpoint.Flush),
            Batches = PostgreSqlSupport.InBatches(endpoint.Mode, endpoint.Flush),
            Ahead = PostgreSqlSupport.ReceivingAhead(endpoint.Mode, endpoint.Flush, endpoint.BatchSize),
            Participants = PostgreSqlSupport.WithParticipants(endpoint.Mode, endpoint.Flush, endpoint.BatchSize),
        };
        supported.Require(endpoint);
        var mode = PostgreSqlSupport.EntryOf(endpoint.Mode);
        ConnectionCheck.Require(endpoint, mode, queueDatabase, dataDatabase);
        PoolSizes.Require(endpoint, queueDatabase, dataDatabase);
        var pooler = new PoolerCheck(endpoint.Name, log);
        await pooler.RequireSessionsAsync(queueDatabase, PoolSizes.Queue, cancellationToken);
        foreach (var participant in EndpointSessions.ParticipantsOf(endpoint, dataDatabase))
            await pooler.RequireSessionsAsync(participant.Database, participant.Title, cancellationToken);

        var opened = sessions = new EndpointSessions(endpoint, mode, queueDatabase, dataDatabase, workers, log);
        await opened.PrepareAsync(cancellationToken);
        var open = await mode.PrepareAsync(opened, cancellationToken);
        endpoint.IsReadOnly = opened.IsReadOnlyAsync;
        await ReportRemovedAsync(opened, cancellationToken);
        workers.Start(endpoint.Concurrency, () => TimedReceiver.OpenAsync(pipeline, open), opened.AnswerAsync);
    }

    private async Task ReportRemovedAsync(EndpointSessions opened, CancellationToken cancellationToken)
    {
        var removed = new RemovedParticipants(endpoint.Name, opened.Queues, opened.Places, log);
        await removed.LookAsync(cancellationToken);
        // Where there are branches, another process can add a participant later.
        if (removed.Found is null && endpoint.Status.Branches() is null)
            return;

        endpoint.Status.Removed = () => removed.Found;
        workers.Repeat(endpoint.RecoveryInterval, removed.LookAsync);
    }

    /// <summary>
    /// Stops receiving and waits for the running handlers. When the host stops waiting, they are cancelled; their mode decides what is left of them. Those
    /// that go on are named and left: their sessions keep their messages until they return or the process ends.
    /// </summary>
    public Task StopAsync(CancellationToken cancellationToken) => workers.StopAsync(() => sessions?.EndAsync() ?? Task.CompletedTask, cancellationToken);

    /// <summary>Stops the endpoint without waiting for handlers, if nobody has stopped it.</summary>
    public async ValueTask DisposeAsync()
    {
        await StopAsync(new CancellationToken(canceled: true));
        workers.Dispose();
        if (sessions is not null)
            await sessions.DisposeAsync();
    }
}
