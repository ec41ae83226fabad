using Kit.Endpoints.Bare.Outbox;
using Kit.Endpoints.Bare.PostgreSql.TwoPhase;
using Kit.Endpoints.Bare.Tables;
using Kit.Modes;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;
using Npgsql;

namespace Kit.Endpoints.Bare.PostgreSql;

/// <summary>Runs the workers of one endpoint between the host's start and stop.</summary>
internal sealed class PostgreSqlEndpoint(
    BareEndpointBuilder endpoint, DatabaseAccess queueDatabase, DatabaseAccess dataDatabase, MessagePipeline pipeline, ILogger log)
    : IHostedService, IAsyncDisposable
{
    /// <summary>As OpenTelemetry calls it.</summary>
    public const string MessagingSystem = "postgresql";

    private readonly Workers workers = new(endpoint.FirstPause, endpoint.Status, log);
    private readonly QueueStatements statements = new(endpoint.Name);
    private readonly Recoverability recoverability = new(endpoint.Mode, endpoint.FirstPause, log);
    private QueueSource? queues;
    private OpenedSource? data;
    private FullDtc? fullDtc;
    private OutboxDispatcher? dispatcher;

    /// <exception cref="NpgsqlException">A database cannot be reached.</exception>
    /// <exception cref="NotSupportedException">The transport has no such mode.</exception>
    /// <exception cref="InvalidOperationException">The server lacks what the mode needs.</exception>
    public async Task StartAsync(CancellationToken cancellationToken)
    {
        // Whoever starts the host may have a transaction of their own; the endpoint is not part of it.
        using var detached = DetachedDataSource.Detach();
        if (PostgreSqlSupport.Of(endpoint.Mode).Because is { } reason)
            throw new NotSupportedException($"Endpoint '{endpoint.Name}' cannot run in {endpoint.Mode}: {reason}.");

        RequireConnectionStrings();
        PoolSizes.Require(endpoint, queueDatabase, dataDatabase);
        var pooler = new PoolerCheck(endpoint.Name, log);
        await pooler.RequireSessionsAsync(queueDatabase, PoolSizes.Queue, cancellationToken);
        await pooler.RequireSessionsAsync(dataDatabase, PoolSizes.Data, cancellationToken);
        queues = new QueueSource(queueDatabase, enlist: endpoint.Mode == TransactionMode.NpgsqlScope);
        data = dataDatabase.Open(enlist: endpoint.Mode == TransactionMode.NpgsqlScope);
        await new QueueTables(endpoint.Name, statements, queues.Source, log).PrepareAsync(cancellationToken);
        var open = await PrepareModeAsync(queues.Source, data.Source, cancellationToken);
        endpoint.Status.Branches = () => fullDtc?.BranchesLeft;
        endpoint.Status.Outbox = () => dispatcher?.Backlog;
        workers.Start(endpoint.Concurrency, () => TimedReceiver.OpenAsync(pipeline, open), AnswerAsync);
    }

    /// <summary>
    /// Stops receiving and waits for the handlers under way; when the host stops waiting, they are cancelled, and their mode says what is left of them.
    /// </summary>
    public async Task StopAsync(CancellationToken cancellationToken)
    {
        await workers.StopAsync(cancellationToken);
        if (fullDtc is not null)
            await fullDtc.DisposeAsync();
        if (dispatcher is not null)
            await dispatcher.DisposeAsync();
    }

    /// <summary>Stops first, without waiting for handlers, where nobody did.</summary>
    public async ValueTask DisposeAsync()
    {
        await StopAsync(new CancellationToken(canceled: true));
        workers.Dispose();
        if (data is not null)
            await data.DisposeAsync();
        if (queues is not null)
            await queues.DisposeAsync();
    }

    private async Task<Func<MessagePipeline, Task<IReceiver>>> PrepareModeAsync(
        NpgsqlDataSource queues, NpgsqlDataSource data, CancellationToken cancellationToken)
    {
        var detached = new DetachedDataSource(data);
        if (endpoint.Mode == TransactionMode.DtcOff)
        {
            var handlers = new LocalTransactionScope(data, endpoint.Transactions);
            return async worker => new DtcOffReceiver(await OpenSessionAsync(), handlers, worker, recoverability);
        }

        if (endpoint.Mode == TransactionMode.ScopeOff)
            return async worker => new ScopeOffReceiver(await OpenSessionAsync(), detached, worker, recoverability);
        if (endpoint.Mode == TransactionMode.TransactionsOff)
        {
            var patient = new PatientDataSource(detached, endpoint.FirstPause, log);
            return async worker => new TransactionsOffReceiver(await OpenSessionAsync(), patient, worker, recoverability);
        }

        if (endpoint.Mode == TransactionMode.NpgsqlScope)
        {
            return worker => Task.FromResult<IReceiver>(
                new NpgsqlScopeReceiver(() => OpenSessionAsync(), data, endpoint.Transactions, worker, recoverability));
        }

        if (endpoint.Mode == TransactionMode.Shared)
        {
            RequireOneDatabase();
            return async worker => new SharedReceiver(await OpenSessionAsync(), worker, recoverability);
        }

        if (endpoint.Mode == TransactionMode.Outbox)
        {
            var outbox = new OutboxStore(data, endpoint.Name, endpoint.Mode.Isolation);
            await outbox.CreateAsync(cancellationToken);
            var unanswered = new UnansweredReceives(outbox);
            var dispatching = dispatcher = OutboxDispatcher.Start(
                outbox, stop => QueueSender.OpenAsync(queueDatabase, unanswered, stop), endpoint.OutboxSchedule, log);
            return async worker => new OutboxReceiver(
                await OpenSessionAsync(withTransactionId: true), outbox, dispatching, unanswered, worker, recoverability);
        }

        if (endpoint.Mode != TransactionMode.FullDtc && endpoint.Mode != TransactionMode.FullDtcWaiting)
            throw new UnknownModeException(endpoint.Mode, "the bare endpoint on PostgreSQL");

        await RequireOneServerAsync(queues, cancellationToken);
        var mode = fullDtc = await FullDtc.StartAsync(
            queues, dataDatabase.Settings, endpoint.Mode, endpoint.Concurrency, endpoint.Transactions, log, cancellationToken);
        workers.Repeat(endpoint.RecoveryInterval, abandoned => mode.RecoverAsync(olderThan: endpoint.RecoveryInterval, abandoned));
        return async worker =>
        {
            var session = await OpenSessionAsync(withTransactionId: true);
            return new FullDtcReceiver(session, await ProveServerAsync(session), mode, worker, recoverability);
        };
    }

    private Task<QueueSession> OpenSessionAsync(bool withTransactionId = false) =>
        QueueSession.OpenAsync(queues!, statements, endpoint.Mode.Isolation, withTransactionId, workers.Abandoned);

    /// <summary>Counts an attempt whose session was lost, on a session of its own.</summary>
    private async Task AnswerAsync(AttemptLostException lost)
    {
        await using var session = await OpenSessionAsync();
        await recoverability.AnswerAfterRollbackAsync(session, lost.QueuedMessage, lost.Failure);
    }

    /// <summary>What these modes promise hangs on how connections are opened: proved to be on one server, or enlisted.</summary>
    private void RequireConnectionStrings()
    {
        dataDatabase.RequireNoEnlistment(endpoint);
        if (!queueDatabase.IsGiven && !dataDatabase.IsGiven)
            return;

        if (endpoint.Mode == TransactionMode.FullDtc || endpoint.Mode == TransactionMode.FullDtcWaiting || endpoint.Mode == TransactionMode.NpgsqlScope)
        {
            throw new InvalidOperationException(
                $"Endpoint '{endpoint.Name}' cannot run in {endpoint.Mode} on a data source: it opens and checks each connection itself. " +
                "Give UsePostgreSql connection strings.");
        }
    }

    private async Task RequireOneServerAsync(NpgsqlDataSource queues, CancellationToken cancellationToken)
    {
        await using var queue = await queues.OpenConnectionAsync(cancellationToken);
        await using var proved = await OneServer.ProveAsync(queue, dataDatabase.Text(enlist: false), cancellationToken);
    }

    private async Task<OneServer> ProveServerAsync(QueueSession session)
    {
        try
        {
            return await OneServer.ProveAsync(session.Connection, dataDatabase.Text(enlist: false), workers.Abandoned);
        }
        catch
        {
            await session.DisposeAsync();
            throw;
        }
    }

    /// <summary>Handlers work on the receive's own connection: another user or search path would be ignored without a word.</summary>
    private void RequireOneDatabase()
    {
        if (!queueDatabase.IsSameAs(dataDatabase))
        {
            throw new InvalidOperationException(
                $"Endpoint '{endpoint.Name}' cannot run in {endpoint.Mode}: its queue and its handlers' data must be in one database, reached with one " +
                "connection string or data source. Give UsePostgreSql that one alone, or use another mode.");
        }
    }
}
