using Kit.Endpoints.Bare.Outbox;
using Kit.Modes;
using Microsoft.Extensions.Logging;
using Npgsql;

namespace Kit.Endpoints.Bare.RabbitMq;

/// <summary>The receivers of one endpoint: how each mode opens them.</summary>
/// <param name="Endpoint">The endpoint.</param>
/// <param name="Broker">The broker's address.</param>
/// <param name="Data">The handlers' database.</param>
/// <param name="Log">The endpoint's log.</param>
internal sealed record Receivers(BareEndpointBuilder Endpoint, RabbitMqAddress Broker, NpgsqlDataSource Data, ILogger Log) : IAsyncDisposable
{
    private static readonly ByMode<Preparation> Entries = new("the bare endpoint on RabbitMQ")
    {
        {
            TransactionMode.DtcOff,
            Each((of, queue, worker) => new DtcOffReceiver(
                queue, new LocalTransactionScope(of.Data, of.Endpoint.Transactions) { IsFlushed = true }, worker, of.recoverability))
        },
        {
            TransactionMode.ScopeOff,
            Each((of, queue, worker) => new ScopeOffReceiver(queue, new DetachedDataSource(of.Data), worker, of.recoverability))
        },
        {
            TransactionMode.TransactionsOff,
            Each((of, queue, worker) => new TransactionsOffReceiver(
                queue, new PatientDataSource(new DetachedDataSource(of.Data), of.Endpoint.FirstPause, of.Log), worker, of.recoverability))
        },
        { TransactionMode.Outbox, (of, cancellationToken) => of.PrepareOutboxAsync(cancellationToken) },
    };

    private readonly Recoverability recoverability = new(Endpoint.Mode, Endpoint.FirstPause, Endpoint.RetryDelays, Log);
    private OutboxDispatcher? dispatcher;

    private delegate Task<Func<QueueSession, MessagePipeline, IReceiver>> Preparation(Receivers of, CancellationToken cancellationToken);

    /// <exception cref="UnknownModeException">The mode has no entry here.</exception>
    public static void RequireEntry(TransactionMode mode) => Entries.Of(mode);

    /// <summary>Prepares what the workers share, and says how a worker's receiver is opened.</summary>
    /// <exception cref="NpgsqlException">The database cannot be reached or, in <c>outbox</c>, refuses its tables.</exception>
    public Task<Func<QueueSession, MessagePipeline, IReceiver>> PrepareAsync(CancellationToken cancellationToken) =>
        Entries.Of(Endpoint.Mode)(this, cancellationToken);

    /// <summary>Ends what the workers share. Call it when none runs.</summary>
    public async ValueTask DisposeAsync()
    {
        if (dispatcher is not null)
            await dispatcher.DisposeAsync();
    }

    private static Preparation Each(Func<Receivers, QueueSession, MessagePipeline, IReceiver> open) =>
        (of, _) => Task.FromResult<Func<QueueSession, MessagePipeline, IReceiver>>((queue, worker) => open(of, queue, worker));

    private async Task<Func<QueueSession, MessagePipeline, IReceiver>> PrepareOutboxAsync(CancellationToken cancellationToken)
    {
        var outbox = new OutboxStore(Data, Endpoint.Name, Endpoint.Mode.Isolation, Endpoint.HandledIdsAreKept) { IsFlushed = true, Log = Log };
        await outbox.CreateAsync(cancellationToken);
        var dispatching = dispatcher = OutboxDispatcher.Start(
            outbox,
            async stop => await QueueSender.OpenAsync(Broker, $"{Endpoint.Name} dispatching", Timeout.InfiniteTimeSpan, stop),
            Endpoint.OutboxSchedule,
            Log);
        Endpoint.Status.Outbox = () => dispatching.Backlog;
        return (queue, worker) => new OutboxReceiver(queue, outbox, dispatching, worker, recoverability);
    }
}
