using System.Data.Common;
using Kit.Endpoints.Bare.Tables;
using Kit.Modes;
using Microsoft.Data.SqlClient;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;

namespace Kit.Endpoints.Bare.SqlServer;

/// <summary>Runs the workers of one endpoint between the host's start and stop.</summary>
internal sealed class SqlServerEndpoint(BareEndpointBuilder endpoint, SqlServerConnections connections, MessagePipeline pipeline, ILogger log)
    : IHostedService, IAsyncDisposable
{
    /// <summary>OpenTelemetry's name for it.</summary>
    public const string MessagingSystem = "microsoft.sql_server";

    private readonly Workers workers = new(endpoint.FirstPause, endpoint.Status, endpoint.Running, log);
    private readonly QueueStatements statements = new(endpoint.Name, endpoint.LongestDelay);
    private readonly string queues = connections.ForQueue(endpoint.Mode);
    private readonly Recoverability recoverability = new(endpoint.Mode, endpoint.FirstPause, SqlClientErrors.Kinds, endpoint.RetryDelays, log);
    private DbDataSource? data;

    /// <exception cref="NotSupportedException">
    /// The mode cannot run on this machine, or not with these connection strings, or flushes or batches were set.
    /// </exception>
    /// <exception cref="InvalidOperationException">The queue's tables are missing or outdated. The message has the statement to run.</exception>
    /// <exception cref="SqlException">The queues' database cannot be reached.</exception>
    public async Task StartAsync(CancellationToken cancellationToken)
    {
        endpoint.RequireEveryFlush(OnlyOnPostgreSql.Flushes);
        endpoint.RequireSingleReceives();
        endpoint.RequireInbox();
        endpoint.RequireRetries();
        connections.Require(endpoint.Name, endpoint.Mode);
        await new QueueTables(endpoint.Name, statements, queues, log).PrepareAsync(cancellationToken);
        data = SqlClientFactory.Instance.CreateDataSource(connections.ForData(endpoint.Mode));
        var open = PrepareMode(data);
        workers.Start(endpoint.Concurrency, () => TimedReceiver.OpenAsync(pipeline, open), AnswerAsync);
    }

    /// <summary>
    /// Stops receiving and waits for the running handlers. When the host stops waiting, they are cancelled; their mode decides what is left of them. Those
    /// that go on are named and left: their sessions keep their messages until they return or the process ends.
    /// </summary>
    public Task StopAsync(CancellationToken cancellationToken) => workers.StopAsync(() => Task.CompletedTask, cancellationToken);

    /// <summary>Stops the endpoint without waiting for handlers, if nobody has stopped it.</summary>
    public async ValueTask DisposeAsync()
    {
        await StopAsync(new CancellationToken(canceled: true));
        workers.Dispose();
        if (data is not null)
            await data.DisposeAsync();
    }

    private Task<QueueSession> OpenSessionAsync(CancellationToken cancellationToken) =>
        QueueSession.OpenAsync(queues, statements, endpoint.Mode.Isolation, cancellationToken);

    private Func<MessagePipeline, Task<IReceiver>> PrepareMode(DbDataSource data)
    {
        if (endpoint.Mode == TransactionMode.DtcOff)
        {
            var handlers = new EnlistingScope(data, endpoint.Transactions);
            return async worker => new DtcOffReceiver(await OpenSessionAsync(workers.Abandoned), handlers, worker, recoverability);
        }

        if (endpoint.Mode == TransactionMode.ScopeOff)
            return async worker => new ScopeOffReceiver(await OpenSessionAsync(workers.Abandoned), data, worker, recoverability);
        if (endpoint.Mode == TransactionMode.TransactionsOff)
        {
            var patient = new PatientDataSource(data, endpoint.FirstPause, log);
            return async worker => new TransactionsOffReceiver(await OpenSessionAsync(workers.Abandoned), patient, worker, recoverability);
        }

        if (endpoint.Mode != TransactionMode.FullDtc && endpoint.Mode != TransactionMode.FullDtcPromoted)
            throw new UnknownModeException(endpoint.Mode, "the bare endpoint on SQL Server");

        return worker => Task.FromResult<IReceiver>(
            new FullDtcReceiver(() => OpenSessionAsync(workers.Abandoned), data, endpoint.Transactions, worker, recoverability));
    }

    /// <summary>Counts an attempt whose session was lost, on a new session.</summary>
    private async Task AnswerAsync(AttemptLostException lost)
    {
        await using var session = await OpenSessionAsync(workers.Abandoned);
        await recoverability.AnswerAfterRollbackAsync(session, lost.QueuedMessage, lost.Failure);
    }
}
