using Kit.Endpoints.Bare.Outbox;
using Kit.Modes;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;
using Npgsql;

namespace Kit.Endpoints.Bare.RabbitMq;

/// <summary>Runs the workers of one endpoint between the host's start and stop, and starts them anew when a connection was lost.</summary>
internal sealed partial class RabbitMqEndpoint(
    BareEndpointBuilder endpoint, RabbitMqSettings settings, NpgsqlConnectionStringBuilder dataConnection, MessagePipeline pipeline, ILogger log)
    : IHostedService, IAsyncDisposable
{
    private readonly QueueNames names = new(endpoint.Name, settings.QueueType);
    private readonly CancellationTokenSource stopping = new();
    private readonly CancellationTokenSource abandoning = new();
    private Task running = Task.CompletedTask;
    private NpgsqlDataSource? data;
    private OutboxDispatcher? dispatcher;

    /// <exception cref="BrokerException">The broker cannot be reached, or has a queue of that name and of another type.</exception>
    /// <exception cref="NotSupportedException">The transport has no such mode.</exception>
    /// <exception cref="InvalidOperationException">The handlers' database is behind a pooler that lends no sessions.</exception>
    /// <exception cref="NpgsqlException">The database cannot be reached or, in <c>outbox</c>, refuses its tables.</exception>
    public async Task StartAsync(CancellationToken cancellationToken)
    {
        if (RabbitMqSupport.Of(endpoint.Mode).Because is { } reason)
            throw new NotSupportedException($"Endpoint '{endpoint.Name}' cannot run in {endpoint.Mode}: {reason}.");

        await new PoolerCheck(endpoint.Name, log).RequireSessionsAsync(dataConnection, cancellationToken);
        data = NpgsqlDataSource.Create(ForData());
        var receiverOf = await PrepareModeAsync(data, cancellationToken);
        endpoint.Status.Outbox = () => dispatcher?.Backlog;
        await CheckQueuesAsync(cancellationToken);
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
        if (dispatcher is not null)
            await dispatcher.DisposeAsync();
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

    // What joins an ambient transaction is the endpoint's own doing.
    private string ForData() => new NpgsqlConnectionStringBuilder(dataConnection.ConnectionString) { Enlist = false }.ConnectionString;

    private async Task<Func<QueueSession, IReceiver>> PrepareModeAsync(NpgsqlDataSource data, CancellationToken cancellationToken)
    {
        var recoverability = new Recoverability(endpoint.Mode, endpoint.FirstPause, log);
        if (endpoint.Mode == TransactionMode.DtcOff)
        {
            var handlers = new LocalTransactionScope(data, endpoint.Transactions);
            return queue => new DtcOffReceiver(queue, handlers, pipeline, recoverability);
        }

        if (endpoint.Mode == TransactionMode.ScopeOff)
            return queue => new ScopeOffReceiver(queue, data, pipeline, recoverability);
        if (endpoint.Mode == TransactionMode.TransactionsOff)
        {
            var patient = new PatientDataSource(data, endpoint.FirstPause, log);
            return queue => new TransactionsOffReceiver(queue, patient, pipeline, recoverability);
        }

        if (endpoint.Mode != TransactionMode.Outbox)
            throw new UnknownModeException(endpoint.Mode, "the bare endpoint on RabbitMQ");

        var outbox = new OutboxStore(data, endpoint.Name, endpoint.Mode.Isolation);
        await outbox.CreateAsync(cancellationToken);
        var dispatching = dispatcher = OutboxDispatcher.Start(
            outbox, stop => QueueSender.OpenAsync(settings.Address, $"{endpoint.Name} dispatching", stop), endpoint.OutboxSchedule, log);
        return queue => new OutboxReceiver(queue, outbox, dispatching, pipeline, recoverability);
    }

    private async Task CheckQueuesAsync(CancellationToken cancellationToken)
    {
        await using var connection = await Broker.ConnectAsync(settings.Address, $"{endpoint.Name} checking", cancellationToken);
        await new QueueCheck(names, settings.Address, log).RunAsync(connection, cancellationToken);
    }

    private Task<Session> OpenAsync(CancellationToken cancellationToken) =>
        Session.OpenAsync(settings, names, endpoint.Name, autoAcknowledge: endpoint.Mode == TransactionMode.TransactionsOff, log, cancellationToken);

    private async Task RunAsync(Session? session, Func<QueueSession, IReceiver> receiverOf)
    {
        var backOff = new BackOff(endpoint.FirstPause);
        while (session is not null || !stopping.IsCancellationRequested)
        {
            try
            {
                session ??= await OpenAsync(stopping.Token);
                backOff.Reset();
                await session.RunAsync(endpoint, names, receiverOf, stopping.Token, abandoning.Token);
            }
            catch (Exception failure) when (!stopping.IsCancellationRequested)
            {
                var pause = backOff.Next();
                LogDisturbed(failure.Message, pause.TotalSeconds);
                await Task.Delay(pause, stopping.Token).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
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

    [LoggerMessage(Level = LogLevel.Error,
        Message = "{Messages} messages are lost: the broker had pushed them and forgotten them, and the host no longer waits.")]
    private partial void LogLost(int messages);
}
