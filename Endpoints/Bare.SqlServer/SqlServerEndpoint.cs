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

    private static readonly ByMode<Func<SqlServerEndpoint, DbDataSource, MessagePipeline, Task<IReceiver>>> Receivers = new("the bare endpoint on SQL Server")
    {
        {
            TransactionMode.DtcOff,
            async (of, data, worker) => new DtcOffReceiver(await of.OpenSessionAsync(), new EnlistingScope(data, of.Transactions), worker, of.recoverability)
        },
        {
            TransactionMode.ScopeOff,
            async (of, data, worker) => new ScopeOffReceiver(await of.OpenSessionAsync(), data, worker, of.recoverability)
        },
        {
            TransactionMode.TransactionsOff,
            async (of, data, worker) => new TransactionsOffReceiver(await of.OpenSessionAsync(), of.Patient(data), worker, of.recoverability)
        },
        {
            [TransactionMode.FullDtc, TransactionMode.FullDtcPromoted],
            (of, data, worker) => Task.FromResult<IReceiver>(new FullDtcReceiver(of.OpenSessionAsync, data, of.Transactions, worker, of.recoverability))
        },
    };

    private readonly Workers workers = new(endpoint.FirstPause, endpoint.Status, endpoint.Running, log);
    private readonly QueueStatements statements = new(endpoint.Name, endpoint.LongestDelay);
    private readonly string queues = connections.ForQueue(endpoint.Mode);
    private readonly Recoverability recoverability = new(
        endpoint.Mode, endpoint.FirstPause, SqlClientErrors.KindsFor(connections.Databases), endpoint.RetryDelays, log);
    private DbDataSource? data;

    /// <exception cref="NotSupportedException">
    /// The mode cannot run on this machine, or not with these connection strings, or flushes or batches were set.
    /// </exception>
    /// <exception cref="InvalidOperationException">
    /// A pool is too small, or the queue's tables are missing or outdated. The message has the remedy.
    /// </exception>
    /// <exception cref="SqlException">The queues' database cannot be reached.</exception>
    public async Task StartAsync(CancellationToken cancellationToken)
    {
        new TransportSupport(SqlServerSupport.Of(endpoint.Mode, connections.AreOne)).Require(endpoint);
        connections.Require(endpoint.Name, endpoint.Mode);
        connections.RequirePools(endpoint.Name, endpoint.Mode, endpoint.Concurrency);
        await new QueueTables(endpoint.Name, statements, queues, endpoint.Mode.Attempts > 1, log).PrepareAsync(cancellationToken);
        var opened = data = SqlClientFactory.Instance.CreateDataSource(connections.ForData(endpoint.Mode));
        var open = Receivers.Of(endpoint.Mode);
        workers.Start(endpoint.Concurrency, () => TimedReceiver.OpenAsync(pipeline, worker => open(this, opened, worker)), AnswerAsync);
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

    private TransactionSettings Transactions => endpoint.Transactions;

    private PatientDataSource Patient(DbDataSource data) => new(data, endpoint.FirstPause, log);

    private Task<QueueSession> OpenSessionAsync() => QueueSession.OpenAsync(queues, statements, endpoint.Mode.Isolation, workers.Abandoned);

    /// <summary>Answers an attempt whose session was lost, on a new session.</summary>
    private Task AnswerAsync(AttemptLostException lost) =>
        recoverability.AnswerOnNewSessionAsync(async () => await OpenSessionAsync(), lost.QueuedMessage, lost.Failure);
}
