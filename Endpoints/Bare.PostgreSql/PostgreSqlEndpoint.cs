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
    BareEndpointBuilder endpoint, NpgsqlConnectionStringBuilder queueConnection, NpgsqlConnectionStringBuilder dataConnection,
    MessagePipeline pipeline, ILogger log)
    : IHostedService, IAsyncDisposable
{
    private readonly Workers workers = new(endpoint.FirstPause, endpoint.Status, log);
    private readonly QueueStatements statements = new(endpoint.Name);
    private readonly Recoverability recoverability = new(endpoint.Mode, endpoint.FirstPause, log);
    private NpgsqlDataSource? queues;
    private NpgsqlDataSource? data;
    private FullDtc? fullDtc;
    private OutboxDispatcher? dispatcher;

    /// <exception cref="NpgsqlException">A database cannot be reached.</exception>
    /// <exception cref="NotSupportedException">The transport has no such mode.</exception>
    /// <exception cref="InvalidOperationException">The server lacks what the mode needs.</exception>
    public async Task StartAsync(CancellationToken cancellationToken)
    {
        if (PostgreSqlSupport.Of(endpoint.Mode).Because is { } reason)
            throw new NotSupportedException($"Endpoint '{endpoint.Name}' cannot run in {endpoint.Mode}: {reason}.");

        PoolSizes.Require(endpoint, queueConnection, dataConnection);
        var pooler = new PoolerCheck(endpoint.Name, log);
        await pooler.RequireSessionsAsync(queueConnection, cancellationToken);
        await pooler.RequireSessionsAsync(dataConnection, cancellationToken);
        queues = QueueSource.Create(queueConnection.ConnectionString, enlist: endpoint.Mode == TransactionMode.NpgsqlScope);
        data = NpgsqlDataSource.Create(ForData());
        await RequireCurrentTableAsync(queues, cancellationToken);
        var open = await PrepareModeAsync(queues, data, cancellationToken);
        endpoint.Status.Branches = () => fullDtc?.BranchesLeft;
        endpoint.Status.Outbox = () => dispatcher?.Backlog;
        workers.Start(endpoint.Concurrency, open, AnswerAsync);
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

    private string ForData() => new NpgsqlConnectionStringBuilder(dataConnection.ConnectionString)
    {
        Enlist = endpoint.Mode == TransactionMode.NpgsqlScope,
    }.ConnectionString;

    private async Task<Func<Task<IReceiver>>> PrepareModeAsync(NpgsqlDataSource queues, NpgsqlDataSource data, CancellationToken cancellationToken)
    {
        if (endpoint.Mode == TransactionMode.DtcOff)
        {
            var handlers = new LocalTransactionScope(data, endpoint.Transactions);
            return async () => new DtcOffReceiver(await OpenSessionAsync(), handlers, pipeline, recoverability);
        }

        if (endpoint.Mode == TransactionMode.ScopeOff)
            return async () => new ScopeOffReceiver(await OpenSessionAsync(), data, pipeline, recoverability);
        if (endpoint.Mode == TransactionMode.TransactionsOff)
        {
            var patient = new PatientDataSource(data, endpoint.FirstPause, log);
            return async () => new TransactionsOffReceiver(await OpenSessionAsync(), patient, pipeline, recoverability);
        }

        if (endpoint.Mode == TransactionMode.NpgsqlScope)
            return () => Task.FromResult<IReceiver>(new NpgsqlScopeReceiver(() => OpenSessionAsync(), data, endpoint.Transactions, pipeline, recoverability));
        if (endpoint.Mode == TransactionMode.Shared)
        {
            RequireOneDatabase();
            return async () => new SharedReceiver(await OpenSessionAsync(), pipeline, recoverability);
        }

        if (endpoint.Mode == TransactionMode.Outbox)
        {
            var outbox = new OutboxStore(data, endpoint.Name, endpoint.Mode.Isolation);
            await outbox.CreateAsync(cancellationToken);
            var unanswered = new UnansweredReceives(outbox);
            var dispatching = dispatcher = OutboxDispatcher.Start(
                outbox, stop => QueueSender.OpenAsync(queueConnection.ConnectionString, unanswered, stop), endpoint.OutboxSchedule, log);
            return async () => new OutboxReceiver(
                await OpenSessionAsync(withTransactionId: true), outbox, dispatching, unanswered, pipeline, recoverability);
        }

        if (endpoint.Mode != TransactionMode.FullDtc && endpoint.Mode != TransactionMode.FullDtcWaiting)
            throw new UnknownModeException(endpoint.Mode, "the bare endpoint on PostgreSQL");

        await RequireOneServerAsync(queues, cancellationToken);
        var mode = fullDtc = await FullDtc.StartAsync(
            queues, dataConnection, endpoint.Mode, endpoint.Concurrency, endpoint.Transactions, log, cancellationToken);
        workers.Repeat(endpoint.RecoveryInterval, abandoned => mode.RecoverAsync(olderThan: endpoint.RecoveryInterval, abandoned));
        return async () =>
        {
            var session = await OpenSessionAsync(withTransactionId: true);
            return new FullDtcReceiver(session, await ProveServerAsync(session), mode, pipeline, recoverability);
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

    private async Task RequireCurrentTableAsync(NpgsqlDataSource queues, CancellationToken cancellationToken)
    {
        await using var command = queues.CreateCommand(statements.IsOutdated);
        if (await command.ExecuteScalarAsync(cancellationToken) is true)
        {
            throw new InvalidOperationException(
                $"Endpoint '{endpoint.Name}' cannot start: an earlier version of the kit made its queue's table. " +
                $"Run this once, it rewrites nothing: {statements.Upgrade}");
        }

        await using var errors = queues.CreateCommand(statements.LacksErrors);
        if (await errors.ExecuteScalarAsync(cancellationToken) is true)
        {
            throw new InvalidOperationException(
                $"Endpoint '{endpoint.Name}' cannot start: its role cannot insert into the error table {statements.Errors}, or there is none, and a message " +
                "could not be given up. Create it with PostgreSqlQueue.CreateAsync, or grant INSERT on it.");
        }
    }

    private async Task RequireOneServerAsync(NpgsqlDataSource queues, CancellationToken cancellationToken)
    {
        await using var queue = await queues.OpenConnectionAsync(cancellationToken);
        await using var proved = await OneServer.ProveAsync(queue, ForData(), cancellationToken);
    }

    private async Task<OneServer> ProveServerAsync(QueueSession session)
    {
        try
        {
            return await OneServer.ProveAsync(session.Connection, ForData(), workers.Abandoned);
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
        if (!queueConnection.EquivalentTo(dataConnection))
        {
            throw new InvalidOperationException(
                $"Endpoint '{endpoint.Name}' cannot run in {endpoint.Mode}: its queue and its handlers' data must be in one database, reached with one " +
                "connection string. Give UsePostgreSql that one alone, or use another mode.");
        }
    }
}
