using Kit.Modes;
using Microsoft.Extensions.Hosting;
using Microsoft.Extensions.Logging;
using Npgsql;

namespace Kit.Endpoints.Bare.RabbitMq;

/// <summary>Runs the workers of one endpoint between the host's start and stop, and restarts them after a connection was lost.</summary>
internal sealed partial class RabbitMqEndpoint(
    BareEndpointBuilder endpoint, RabbitMqSettings settings, DatabaseAccess database, MessagePipeline pipeline, ILogger log)
    : IHostedService, IAsyncDisposable
{
    /// <summary>OpenTelemetry's name for it.</summary>
    public const string MessagingSystem = "rabbitmq";

    private readonly QueueNames names = new(endpoint.Name, settings.QueueType);
    private readonly CancellationTokenSource stopping = new();
    private readonly CancellationTokenSource abandoning = new();
    private Task running = Task.CompletedTask;
    private Task? ending;
    private Session? current;
    private OpenedSource? data;
    private Receivers? receivers;

    /// <exception cref="BrokerException">The broker cannot be reached, or has a queue with that name and another type.</exception>
    /// <exception cref="NotSupportedException">The transport has no such mode, or not with these flushes or batches.</exception>
    /// <exception cref="InvalidOperationException">The handlers' database is behind a pooler without session pooling, or its pool is too small.</exception>
    /// <exception cref="NpgsqlException">The database cannot be reached or, in <c>outbox</c>, refuses its tables.</exception>
    public async Task StartAsync(CancellationToken cancellationToken)
    {
        // The host may be started inside an ambient transaction, which the endpoint must not join.
        using var detached = DetachedDataSource.Detach();
        var supported = new TransportSupport(RabbitMqSupport.Of(endpoint.Mode))
        {
            Flush = RabbitMqSupport.LeftOutFlushes,
            LongestDelay = AmqpMessage.LongestDelay,
        };
        supported.Require(endpoint);
        database.RequireNoEnlistment(endpoint);
        PoolSizes.Require(endpoint, database);
        await new PoolerCheck(endpoint.Name, log).RequireSessionsAsync(database, PoolSizes.Data, cancellationToken);
        data = database.Open(enlist: false);
        // Where the endpoint commits, that commit waits.
        if (endpoint.Mode.RowCommit == RowCommit.EachStatement)
        {
            await new FlushCheck(endpoint.Name, endpoint.Mode, endpoint.Flush, log)
                .RequireAsync(data.Source, PoolSizes.Data, isAsynchronous: false, cancellationToken);
        }

        endpoint.IsReadOnly = cancelled => ReadOnlyServer.IsSoAsync(database, [data.Source], cancelled);
        receivers = new Receivers(endpoint, settings.Address, data.Source, log);
        var receiverOf = await receivers.PrepareAsync(cancellationToken);
        var session = await OpenAsync(isFirst: true, cancellationToken);
        running = OwnContext.Run(() => RunAsync(session, Measured(receiverOf)));
    }

    /// <summary>
    /// Stops receiving and waits for the running handlers. Prefetched messages go back to the queue. In <c>transactions-off</c>, pushed messages
    /// have left the queue, so they are handled first. When the host stops waiting, handlers are cancelled, and in <c>transactions-off</c> the
    /// pushed messages that were not begun are lost. Handlers that go on are named and left. The endpoint then closes its connections, and the broker
    /// redelivers what was not acknowledged.
    /// </summary>
    public async Task StopAsync(CancellationToken cancellationToken)
    {
        if (!stopping.IsCancellationRequested)
            await stopping.CancelAsync();
        // A broker that accepts nothing does not hold up the host, either.
        if (!await endpoint.Running.StopAsync(ending ??= EndAsync(), abandoning, log, cancellationToken) && TakeCurrent() is { } left)
            await Task.WhenAny(CloseAsync(left), Task.Delay(endpoint.StopPatience, CancellationToken.None));
    }

    public async ValueTask DisposeAsync()
    {
        // The host may be disposed without a stop.
        await StopAsync(new CancellationToken(canceled: true));
        // A handler that was left still has its token.
        if (ending is { IsCompleted: true })
        {
            stopping.Dispose();
            abandoning.Dispose();
        }

        if (data is not null)
            await data.DisposeAsync();
    }

    private async Task EndAsync()
    {
        await running;
        if (receivers is not null)
            await receivers.DisposeAsync();
    }

    [LoggerMessage(Level = LogLevel.Warning, Message = "The broker accepts no messages at the moment: {Reason}")]
    internal static partial void LogBlocked(ILogger log, string reason);

    private Func<QueueSession, Task<IReceiver>> Measured(Func<QueueSession, MessagePipeline, IReceiver> receiverOf) =>
        queue => TimedReceiver.OpenAsync(pipeline, worker => Task.FromResult(receiverOf(queue, worker)));

    private Task<Session> OpenAsync(bool isFirst, CancellationToken cancellationToken) => Session.OpenAsync(
        settings, names, endpoint.Name, autoAcknowledge: !endpoint.Mode.CommitOrder.IsMessageLeftInHandler, isFirst, log, cancellationToken);

    private async Task RunAsync(Session? session, Func<QueueSession, Task<IReceiver>> receiverOf)
    {
        var backOff = new BackOff(endpoint.FirstPause);
        while (session is not null || !stopping.IsCancellationRequested)
        {
            try
            {
                current = session ??= await OpenAsync(isFirst: false, stopping.Token);
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

            if (TakeCurrent() is { } ended)
                await CloseAsync(ended);

            session = null;
        }
    }

    /// <summary>The session that is to be closed, once.</summary>
    private Session? TakeCurrent() => Interlocked.Exchange(ref current, null);

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

    [LoggerMessage(Level = LogLevel.Warning, Message = "{Reason} Next try in {Seconds} s.")]
    private partial void LogDisturbed(string reason, double seconds);

    [LoggerMessage(Level = LogLevel.Warning, Message = "The session ended with a failure, and its unacknowledged messages go back to the queue: {Reason}")]
    private partial void LogAbandoned(string reason);

    [LoggerMessage(Level = LogLevel.Error,
        Message = "{Messages} messages are lost: the broker had pushed and removed them, and the host no longer waits for handlers.")]
    private partial void LogLost(int messages);
}
