using System.Diagnostics.CodeAnalysis;
using Kit.Endpoints.Bare.Outbox;
using Kit.Endpoints.Bare.PostgreSql.Batches;
using Kit.Endpoints.Bare.PostgreSql.TwoPhase;
using Kit.Endpoints.Bare.Tables;
using Kit.Modes;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;
using Npgsql;

namespace Kit.Endpoints.Bare.PostgreSql;

/// <summary>Runs the workers of one endpoint between the host's start and stop.</summary>
[SuppressMessage("Usage", "CA2213:Disposable fields should be disposed", Justification = "EndAsync disposes of what the workers share, when none runs.")]
internal sealed class PostgreSqlEndpoint(
    BareEndpointBuilder endpoint, DatabaseAccess queueDatabase, DatabaseAccess dataDatabase, MessagePipeline pipeline, ILogger log)
    : IHostedService, IAsyncDisposable
{
    /// <summary>OpenTelemetry's name for it.</summary>
    public const string MessagingSystem = "postgresql";

    private readonly Workers workers = new(endpoint.FirstPause, endpoint.Status, endpoint.Running, log);
    private QueueStatements statements = new(endpoint.Name);
    private readonly Recoverability recoverability = new(endpoint.Mode, endpoint.FirstPause, FailureKinds.OfPostgreSql, endpoint.RetryDelays, log);
    private QueueSource? queues;
    private OwnSession? own;
    private QueueSource? receives;
    private DatabaseAccess? handlers;
    private OpenedSource? data;
    private FullDtc? fullDtc;
    private OutboxDispatcher? dispatcher;

    /// <exception cref="NpgsqlException">A database cannot be reached.</exception>
    /// <exception cref="NotSupportedException">The transport has no such mode, or not with these flushes or batches.</exception>
    /// <exception cref="InvalidOperationException">The server lacks what the mode needs.</exception>
    public async Task StartAsync(CancellationToken cancellationToken)
    {
        // The host may be started inside an ambient transaction, which the endpoint must not join.
        using var detached = DetachedDataSource.Detach();
        if (PostgreSqlSupport.Of(endpoint.Mode).Because is { } reason)
            throw new NotSupportedException($"Endpoint '{endpoint.Name}' cannot run in {endpoint.Mode}: {reason}.");
        if (PostgreSqlSupport.Of(endpoint.Mode, endpoint.Flush).Because is { } because)
            throw new NotSupportedException($"Endpoint '{endpoint.Name}' cannot leave out flushes in {endpoint.Mode} ('{endpoint.Flush}'): {because}.");
        RequireSupportOfReceives();
        endpoint.RequireInbox();
        endpoint.RequireRetries();

        RequireConnectionStrings();
        PoolSizes.Require(endpoint, queueDatabase, dataDatabase);
        var pooler = new PoolerCheck(endpoint.Name, log);
        await pooler.RequireSessionsAsync(queueDatabase, PoolSizes.Queue, cancellationToken);
        await pooler.RequireSessionsAsync(dataDatabase, PoolSizes.Data, cancellationToken);
        var isEnlisted = endpoint.Mode == TransactionMode.NpgsqlScope;
        var asynchronous = AsynchronousCommits.Of(endpoint.Mode, endpoint.Flush);
        queues = new QueueSource(queueDatabase, isEnlisted);
        receives = asynchronous.OfReceives ? new QueueSource(queueDatabase.CommittingAsynchronously(), isEnlisted) : queues;
        handlers = asynchronous.OfHandlers ? dataDatabase.CommittingAsynchronously() : dataDatabase;
        data = handlers.Open(isEnlisted);
        statements = await new QueueTables(endpoint.Name, statements, queues.Source, log).PrepareAsync(endpoint.LongestDelay, cancellationToken);
        own = await OwnSession.ReadAsync(queues.Source, cancellationToken);
        await RequireFlushesAsync(asynchronous, cancellationToken);
        var open = await PrepareModeAsync(queues.Source, data.Source, cancellationToken);
        endpoint.IsReadOnly = cancelled => ReadOnlyServer.IsSoAsync(dataDatabase, data.Source, cancelled);
        endpoint.Status.Branches = () => fullDtc?.BranchesLeft;
        endpoint.Status.Outbox = () => dispatcher?.Backlog;
        workers.Start(endpoint.Concurrency, () => TimedReceiver.OpenAsync(pipeline, open), AnswerAsync);
    }

    /// <summary>
    /// Stops receiving and waits for the running handlers. When the host stops waiting, they are cancelled; their mode decides what is left of them. Those
    /// that go on are named and left: their sessions keep their messages until they return or the process ends.
    /// </summary>
    public Task StopAsync(CancellationToken cancellationToken) => workers.StopAsync(EndAsync, cancellationToken);

    /// <summary>Stops the endpoint without waiting for handlers, if nobody has stopped it.</summary>
    public async ValueTask DisposeAsync()
    {
        await StopAsync(new CancellationToken(canceled: true));
        workers.Dispose();
        if (data is not null)
            await data.DisposeAsync();
        if (receives is not null && receives != queues)
            await receives.DisposeAsync();
        if (queues is not null)
            await queues.DisposeAsync();
    }

    private async Task EndAsync()
    {
        if (fullDtc is not null)
            await fullDtc.DisposeAsync();
        if (dispatcher is not null)
            await dispatcher.DisposeAsync();
    }

    private async Task<Func<MessagePipeline, Task<IReceiver>>> PrepareModeAsync(
        NpgsqlDataSource queues, NpgsqlDataSource data, CancellationToken cancellationToken)
    {
        if (endpoint.Mode == TransactionMode.DtcOff)
        {
            return worker => OpenAsync(data, (session, proved) => InBatches(
                session,
                new DtcOffReceiver(session, new LocalTransactionScope(proved, endpoint.Transactions), worker, recoverability),
                size => new DtcOffBatchReceiver(session, size, proved, endpoint.Transactions, worker, recoverability)));
        }

        if (endpoint.Mode == TransactionMode.ScopeOff)
        {
            return worker => OpenAsync(data, (session, proved) => InBatches(
                session,
                new ScopeOffReceiver(session, new DetachedDataSource(proved), worker, recoverability),
                size => new ScopeOffBatchReceiver(session, size, new DetachedDataSource(proved), worker, recoverability)));
        }

        if (endpoint.Mode == TransactionMode.TransactionsOff)
        {
            return worker => OpenAsync(
                data,
                (session, proved) =>
                {
                    var patient = new PatientDataSource(new DetachedDataSource(proved), endpoint.FirstPause, log);
                    return InBatches(
                        session,
                        new TransactionsOffReceiver(
                            receives == this.queues ? session : new ReceiveApart(session, async () => await OpenAnsweringSessionAsync(workers.Abandoned)),
                            patient, worker, recoverability),
                        size => new TransactionsOffBatchReceiver(session, size, patient, PuttingBack, worker, recoverability));
                });
        }

        if (endpoint.Mode == TransactionMode.NpgsqlScope)
        {
            return worker => Task.FromResult<IReceiver>(
                new NpgsqlScopeReceiver(() => OpenSessionAsync(receives!), data, endpoint.Transactions, worker, recoverability));
        }

        if (endpoint.Mode == TransactionMode.Shared)
        {
            RequireOneDatabase();
            return async worker =>
            {
                var session = await OpenSessionAsync(receives!);
                return InBatches(
                    session, new SharedReceiver(session, worker, recoverability),
                    size => new SharedBatchReceiver(session, size, PuttingBack, worker, recoverability));
            };
        }

        if (endpoint.Mode == TransactionMode.Outbox)
        {
            var outbox = new OutboxStore(data, endpoint.Name, endpoint.Mode.Isolation, endpoint.HandledIdsAreKept);
            await outbox.CreateAsync(cancellationToken);
            var unanswered = new UnansweredReceives(outbox);
            var dispatching = dispatcher = OutboxDispatcher.Start(
                outbox, stop => QueueSender.OpenAsync(queueDatabase, unanswered, stop), endpoint.OutboxSchedule, log);
            return worker => OpenAsync(
                data,
                (session, proved) => new OutboxReceiver(session, outbox, outbox.HandlersOn(proved), dispatching, unanswered, worker, recoverability),
                withTransactionId: true);
        }

        if (endpoint.Mode != TransactionMode.FullDtc && endpoint.Mode != TransactionMode.FullDtcWaiting)
            throw new UnknownModeException(endpoint.Mode, "the bare endpoint on PostgreSQL");

        await RequireOneServerAsync(queues, cancellationToken);
        var mode = fullDtc = await FullDtc.StartAsync(
            queues, dataDatabase.Settings, endpoint.Mode, endpoint.Concurrency, endpoint.Transactions, log, workers.Stopping, cancellationToken);
        workers.Repeat(endpoint.RecoveryInterval, abandoned => mode.RecoverAsync(olderThan: endpoint.RecoveryInterval, abandoned));
        return async worker =>
        {
            var session = await OpenSessionAsync(receives!, withTransactionId: true);
            var server = await ProveServerAsync(session);
            return InBatches(
                session, new FullDtcReceiver(session, server, mode, worker, recoverability),
                size => new FullDtcBatchReceiver(session, size, server, mode, worker, recoverability));
        };
    }

    /// <summary>One worker's receiver. Where flushes are left out, its handlers must work on the server of its session.</summary>
    private async Task<IReceiver> OpenAsync(
        NpgsqlDataSource data, Func<QueueSession, NpgsqlDataSource, IReceiver> create, bool withTransactionId = false)
    {
        var session = await OpenSessionAsync(receives!, withTransactionId);
        if (endpoint.Flush == LogFlush.Every)
            return create(session, data);

        var server = await ProveServerAsync(session);
        return new ProvedReceiver(create(session, server.Data), server);
    }

    private PuttingBack PuttingBack => new(() => OpenAnsweringSessionAsync(CancellationToken.None), endpoint.FirstPause, recoverability);

    private IReceiver InBatches(QueueSession session, IReceiver one, Func<int, IBatchReceiver> batch) => endpoint.BatchSize == 1
        ? one
        : new BatchReceiver(session, one, batch(endpoint.BatchSize), endpoint.BatchSize, log);

    /// <summary>A session that receives.</summary>
    private Task<QueueSession> OpenSessionAsync(QueueSource source, bool withTransactionId = false) => QueueSession.OpenAsync(
        source,
        statements,
        new QueueSessionSettings(endpoint.Mode.Isolation, withTransactionId, endpoint.ReceivesAhead, own!, IsLent: endpoint.Mode == TransactionMode.Shared),
        workers.Abandoned);

    /// <summary>A session that puts messages back, gives them up or sends, and receives none.</summary>
    private Task<QueueSession> OpenAnsweringSessionAsync(CancellationToken stop) => QueueSession.OpenAsync(
        queues!, statements, new QueueSessionSettings(endpoint.Mode.Isolation, WithTransactionId: false, ReceivesAhead: false, own!), stop);

    /// <summary>Counts an attempt whose session was lost, on a new session.</summary>
    private async Task AnswerAsync(AttemptLostException lost)
    {
        await using var session = await OpenAnsweringSessionAsync(workers.Abandoned);
        await recoverability.AnswerAfterRollbackAsync(session, lost.QueuedMessage, lost.Failure);
    }

    private string WhatNeedsOneServer => endpoint.Flush == LogFlush.Every ? $"{endpoint.Mode}" : $"{endpoint.Mode} with flush '{endpoint.Flush}'";

    /// <summary>The sessions do what the setting says, on one server.</summary>
    private async Task RequireFlushesAsync(AsynchronousCommits asynchronous, CancellationToken cancellationToken)
    {
        var check = new FlushCheck(endpoint.Name, endpoint.Mode, endpoint.Flush, log);
        await check.RequireAsync(receives!.Source, PoolSizes.Queue, asynchronous.OfReceives, cancellationToken);
        if (endpoint.Mode == TransactionMode.Shared)
            return;

        await check.RequireAsync(data!.Source, PoolSizes.Data, asynchronous.OfHandlers, cancellationToken);
        if (endpoint.Flush == LogFlush.Every)
            return;

        // If receives do not wait, the queue's other commits still have to: sends, and messages that are given up.
        if (asynchronous.OfReceives)
            await check.RequireAsync(queues!.Source, PoolSizes.Queue, isAsynchronous: false, cancellationToken);

        // With several servers, sends and the dispatcher could reach another one than the receive.
        if (queueDatabase.HasSeveralHosts || dataDatabase.HasSeveralHosts)
        {
            throw new InvalidOperationException(
                $"Endpoint '{endpoint.Name}' cannot leave out flushes ('{endpoint.Flush}') with a list of hosts: its connections could meet different " +
                "servers, which have different logs. Name one host, or use 'every'.");
        }

        await RequireOneServerAsync(queues!.Source, cancellationToken);
    }

    private void RequireSupportOfReceives()
    {
        if (endpoint.ReceivesAhead && PostgreSqlSupport.ReceivingAhead(endpoint.Mode, endpoint.Flush, endpoint.BatchSize).Because is { } reason)
            throw new NotSupportedException($"Endpoint '{endpoint.Name}' cannot receive with the commit before it in {endpoint.Mode}: {reason}.");
        if (endpoint.BatchSize > 1 && PostgreSqlSupport.InBatches(endpoint.Mode, endpoint.Flush).Because is { } because)
            throw new NotSupportedException($"Endpoint '{endpoint.Name}' cannot receive in batches in {endpoint.Mode}: {because}.");
    }

    /// <summary>Some modes' promises depend on how connections are opened: proved to be on one server, or enlisted.</summary>
    private void RequireConnectionStrings()
    {
        dataDatabase.RequireNoEnlistment(endpoint);
        if (endpoint.Mode == TransactionMode.NpgsqlScope && dataDatabase.Settings.Multiplexing)
        {
            throw new InvalidOperationException(
                $"Endpoint '{endpoint.Name}' cannot run in {endpoint.Mode} with Multiplexing=true in the connection string of its handlers' data: the driver " +
                "does not enlist such connections in a scope. Take Multiplexing out of it.");
        }

        if (!queueDatabase.IsGiven && !dataDatabase.IsGiven)
            return;

        if (endpoint.Flush != LogFlush.Every)
        {
            throw new InvalidOperationException(
                $"Endpoint '{endpoint.Name}' cannot leave out flushes ('{endpoint.Flush}') on a data source: it sets each connection's options itself. " +
                "Give UsePostgreSql connection strings.");
        }

        if (endpoint.Mode == TransactionMode.FullDtc || endpoint.Mode == TransactionMode.FullDtcWaiting || endpoint.Mode == TransactionMode.NpgsqlScope)
        {
            throw new InvalidOperationException(
                $"Endpoint '{endpoint.Name}' cannot run in {endpoint.Mode} on a data source, because it must open and check each connection itself. " +
                "Pass connection strings to UsePostgreSql.");
        }
    }

    private async Task RequireOneServerAsync(NpgsqlDataSource queues, CancellationToken cancellationToken)
    {
        await using var queue = await queues.OpenConnectionAsync(cancellationToken);
        await using var proved = await OneServer.ProveAsync(queue, handlers!.Text(enlist: false), WhatNeedsOneServer, cancellationToken);
    }

    private async Task<OneServer> ProveServerAsync(QueueSession session)
    {
        try
        {
            return await OneServer.ProveAsync(session.Connection, handlers!.Text(enlist: false), WhatNeedsOneServer, workers.Abandoned);
        }
        catch
        {
            await session.DisposeAsync();
            throw;
        }
    }

    /// <summary>Handlers use the receive's own connection: another user or search path would be ignored silently.</summary>
    private void RequireOneDatabase()
    {
        if (!queueDatabase.IsSameAs(dataDatabase))
        {
            throw new InvalidOperationException(
                $"Endpoint '{endpoint.Name}' cannot run in {endpoint.Mode}: its queue and its handlers' data must be in one database, reached with one " +
                "connection string or data source. Pass only that one to UsePostgreSql, or use another mode.");
        }
    }
}
