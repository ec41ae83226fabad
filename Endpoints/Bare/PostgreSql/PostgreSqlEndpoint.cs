using Kit.Endpoints.Bare.Outbox;
using Kit.Endpoints.Bare.Tables;
using Kit.Endpoints.Bare.TwoPhase;
using Kit.Modes;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;
using Npgsql;

namespace Kit.Endpoints.Bare.PostgreSql;

/// <summary>Runs the workers of one endpoint between the host's start and stop.</summary>
internal sealed class PostgreSqlEndpoint(
    BareEndpoint endpoint, NpgsqlConnectionStringBuilder queueConnection, NpgsqlConnectionStringBuilder dataConnection, MessagePipeline pipeline, ILogger log)
    : IHostedService, IAsyncDisposable
{
    private static readonly TimeSpan RecoveryInterval = TimeSpan.FromSeconds(5);

    private readonly Workers workers = new(log);
    private NpgsqlDataSource? queues;
    private NpgsqlDataSource? data;
    private ISecondPhase? secondPhase;

    /// <exception cref="NpgsqlException">A database cannot be reached.</exception>
    /// <exception cref="NotSupportedException">The transport has no such mode.</exception>
    /// <exception cref="InvalidOperationException">The server lacks what the mode needs.</exception>
    public async Task StartAsync(CancellationToken cancellationToken)
    {
        if (PostgreSqlSupport.Of(endpoint.Mode).Because is { } reason)
            throw new NotSupportedException($"Endpoint '{endpoint.Name}' cannot run in {endpoint.Mode}: {reason}.");

        var pooler = new PoolerCheck(endpoint.Name, log);
        await pooler.RequireSessionsAsync(queueConnection, cancellationToken);
        await pooler.RequireSessionsAsync(dataConnection, cancellationToken);
        queues = NpgsqlDataSource.Create(ForQueues());
        data = NpgsqlDataSource.Create(ForData());
        workers.Start(endpoint.Concurrency, await PrepareModeAsync(queues, data, cancellationToken));
    }

    /// <summary>Stops receiving and waits for the handlers under way; when the host stops waiting, they are cancelled, and their mode says what is left of them.</summary>
    public async Task StopAsync(CancellationToken cancellationToken)
    {
        await workers.StopAsync(cancellationToken);
        if (secondPhase is not null)
            await secondPhase.DisposeAsync();
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

    private string ForQueues() => new NpgsqlConnectionStringBuilder(queueConnection.ConnectionString)
    {
        Enlist = endpoint.Mode == TransactionMode.NpgsqlScope,
    }.ConnectionString;

    private string ForData() => new NpgsqlConnectionStringBuilder(dataConnection.ConnectionString)
    {
        Enlist = endpoint.Mode == TransactionMode.DtcOff || endpoint.Mode == TransactionMode.NpgsqlScope,
    }.ConnectionString;

    private async Task<Func<Task<IReceiver>>> PrepareModeAsync(NpgsqlDataSource queues, NpgsqlDataSource data, CancellationToken cancellationToken)
    {
        var statements = new QueueStatements(endpoint.Name);
        var recoverability = new Recoverability(endpoint.Mode, log);
        if (endpoint.Mode == TransactionMode.DtcOff)
            return async () => new DtcOffReceiver(await OpenSessionAsync(), data, pipeline, recoverability);
        if (endpoint.Mode == TransactionMode.ScopeOff)
            return async () => new ScopeOffReceiver(await OpenSessionAsync(), data, pipeline, recoverability);
        if (endpoint.Mode == TransactionMode.TransactionsOff)
            return async () => new TransactionsOffReceiver(await OpenSessionAsync(), data, pipeline, recoverability);
        if (endpoint.Mode == TransactionMode.NpgsqlScope)
            return () => Task.FromResult<IReceiver>(new NpgsqlScopeReceiver(queues, statements, data, pipeline, recoverability));
        if (endpoint.Mode == TransactionMode.Shared)
        {
            RequireOneDatabase();
            return () => Task.FromResult<IReceiver>(new SharedReceiver(() => OpenSessionAsync(), pipeline, recoverability));
        }

        if (endpoint.Mode == TransactionMode.Outbox)
        {
            var outbox = new OutboxStore(data, endpoint.Name);
            await outbox.CreateAsync(cancellationToken);
            return async () => new OutboxReceiver(await OpenSessionAsync(), outbox, pipeline, recoverability);
        }

        var database = await QueueDatabase.ReadAsync(queues, cancellationToken);
        await RequireOneServerAsync(queues, cancellationToken);
        var backlog = await Preflight.BacklogAsync(data, endpoint.Concurrency, cancellationToken);
        var recovery = new Recovery(data, database, log);
        await recovery.RunAsync(olderThan: TimeSpan.Zero, cancellationToken);
        workers.Repeat(RecoveryInterval, abandoned => recovery.RunAsync(olderThan: RecoveryInterval, abandoned));
        var ending = secondPhase = endpoint.Mode == TransactionMode.FullDtcWaiting
            ? new WaitingSecondPhase(log)
            : new BackgroundSecondPhase(data, backlog, log);
        return async () =>
        {
            var session = await OpenSessionAsync(withTransactionId: true);
            return new FullDtcReceiver(session, await ProveServerAsync(session), pipeline, recoverability, database, ending);
        };

        Task<QueueSession> OpenSessionAsync(bool withTransactionId = false) =>
            QueueSession.OpenAsync(queues, statements, withTransactionId, workers.Abandoned);
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
