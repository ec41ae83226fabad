using Kit.Endpoints.Bare.Outbox;
using Kit.Endpoints.Bare.PostgreSql;
using Kit.Modes;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;
using Npgsql;

namespace Kit.Endpoints.Bare.RabbitMq;

/// <summary>Runs the workers of one endpoint between the host's start and stop, and starts them anew when a connection was lost.</summary>
internal sealed partial class RabbitMqEndpoint(
    BareEndpoint endpoint, RabbitMqSettings settings, NpgsqlConnectionStringBuilder dataConnection, MessagePipeline pipeline, ILogger log)
    : IHostedService, IAsyncDisposable
{
    private static readonly TimeSpan Reconnect = TimeSpan.FromSeconds(1);

    private readonly QueueNames names = new(endpoint.Name, settings.QueueType);
    private readonly CancellationTokenSource stopping = new();
    private readonly CancellationTokenSource abandoning = new();
    private Task running = Task.CompletedTask;
    private NpgsqlDataSource? data;

    /// <exception cref="BrokerException">The broker cannot be reached, or has a queue of that name with other arguments.</exception>
    /// <exception cref="NotSupportedException">The transport has no such mode.</exception>
    /// <exception cref="InvalidOperationException">The handlers' database is behind a pooler that lends no sessions.</exception>
    /// <exception cref="NpgsqlException">The database cannot be reached; <c>outbox</c> only: it refuses its tables.</exception>
    public async Task StartAsync(CancellationToken cancellationToken)
    {
        if (RabbitMqSupport.Of(endpoint.Mode).Because is { } reason)
            throw new NotSupportedException($"Endpoint '{endpoint.Name}' cannot run in {endpoint.Mode}: {reason}.");

        await new PoolerCheck(endpoint.Name, log).RequireSessionsAsync(dataConnection, cancellationToken);
        data = NpgsqlDataSource.Create(ForData());
        var receiverOf = await PrepareModeAsync(data, cancellationToken);
        var session = await OpenAsync(cancellationToken);
        running = Task.Run(() => RunAsync(session, receiverOf), CancellationToken.None);
    }

    /// <summary>
    /// Receives no more and waits for the handlers under way; what was prefetched goes back to the queue. In <c>transactions-off</c> nobody
    /// else has what was pushed: it is handled first. When the host stops waiting, handlers are cancelled, and what was pushed in
    /// <c>transactions-off</c> and not begun is lost.
    /// </summary>
    public async Task StopAsync(CancellationToken cancellationToken)
    {
        await stopping.CancelAsync();
        await using (cancellationToken.Register(abandoning.Cancel))
            await running;
    }

    public async ValueTask DisposeAsync()
    {
        // A host that is disposed without a stop.
        await StopAsync(new CancellationToken(canceled: true));
        stopping.Dispose();
        abandoning.Dispose();
        if (data is not null)
            await data.DisposeAsync();
    }

    [LoggerMessage(Level = LogLevel.Warning, Message = "The broker takes no messages for now: {Reason}")]
    internal static partial void LogBlocked(ILogger log, string reason);

    private string ForData() => new NpgsqlConnectionStringBuilder(dataConnection.ConnectionString)
    {
        Enlist = endpoint.Mode == TransactionMode.DtcOff,
    }.ConnectionString;

    private async Task<Func<QueueSession, IReceiver>> PrepareModeAsync(NpgsqlDataSource data, CancellationToken cancellationToken)
    {
        var recoverability = new Recoverability(endpoint.Mode, log);
        if (endpoint.Mode == TransactionMode.DtcOff)
            return queue => new DtcOffReceiver(queue, data, pipeline, recoverability);
        if (endpoint.Mode == TransactionMode.ScopeOff)
            return queue => new ScopeOffReceiver(queue, data, pipeline, recoverability);
        if (endpoint.Mode == TransactionMode.Outbox)
        {
            var outbox = new OutboxStore(data, endpoint.Name);
            await outbox.CreateAsync(cancellationToken);
            return queue => new OutboxReceiver(queue, outbox, pipeline, recoverability);
        }

        return queue => new TransactionsOffReceiver(queue, data, pipeline, recoverability);
    }

    private Task<Session> OpenAsync(CancellationToken cancellationToken) =>
        Session.OpenAsync(settings, names, endpoint.Name, autoAcknowledge: endpoint.Mode == TransactionMode.TransactionsOff, log, cancellationToken);

    private async Task RunAsync(Session? session, Func<QueueSession, IReceiver> receiverOf)
    {
        while (session is not null || !stopping.IsCancellationRequested)
        {
            try
            {
                session ??= await OpenAsync(stopping.Token);
                await session.RunAsync(endpoint.Concurrency, names, receiverOf, stopping.Token, abandoning.Token);
            }
            catch (Exception failure) when (!stopping.IsCancellationRequested)
            {
                LogDisturbed(failure.Message, Reconnect.TotalSeconds);
                await Task.Delay(Reconnect, stopping.Token).ContinueWith(_ => { }, CancellationToken.None, TaskContinuationOptions.ExecuteSynchronously, TaskScheduler.Default);
            }
            catch (Exception failure)
            {
                LogAbandoned(failure.Message);
            }

            if (session is not null)
                await CloseAsync(session);

            session = null;
        }
    }

    private async Task CloseAsync(Session session)
    {
        if (session.Unbegun is > 0 and var lost)
            LogLost(lost);

        try
        {
            await session.DisposeAsync();
        }
        catch (Exception gone)
        {
            LogAbandoned(gone.Message);
        }
    }

    [LoggerMessage(Level = LogLevel.Warning, Message = "{Reason} Tried again in {Seconds} s.")]
    private partial void LogDisturbed(string reason, double seconds);

    [LoggerMessage(Level = LogLevel.Warning, Message = "Given back while stopping: {Reason}")]
    private partial void LogAbandoned(string reason);

    [LoggerMessage(Level = LogLevel.Error, Message = "{Messages} messages are lost: the broker had pushed them and forgotten them, and the host no longer waits.")]
    private partial void LogLost(int messages);
}
