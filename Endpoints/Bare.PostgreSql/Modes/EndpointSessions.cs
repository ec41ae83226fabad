using System.Runtime.CompilerServices;
using Kit.Endpoints.Bare.PostgreSql.Batches;
using Kit.Endpoints.Bare.PostgreSql.Queues;
using Kit.Endpoints.Bare.PostgreSql.TwoPhase;
using Kit.Endpoints.Bare.Tables;
using Kit.Modes;
using Microsoft.Extensions.Logging;
using Npgsql;

namespace Kit.Endpoints.Bare.PostgreSql.Modes;

/// <summary>The sessions and connections of one endpoint, as its mode and its flush need them. A mode opens its receivers with them.</summary>
internal sealed class EndpointSessions : IAsyncDisposable
{
    private readonly AsynchronousCommits asynchronous;
    private readonly QueueSource queues;
    private readonly QueueSource receives;
    private readonly DatabaseAccess handlers;
    private readonly OpenedSource data;
    private readonly Stack<IAsyncDisposable> shared = new();
    // Not kept alive here: a worker's own pool ends with its session.
    private readonly ConditionalWeakTable<NpgsqlDataSource, DatabaseAccess> lentPools = new();
    private QueueStatements statements;
    private OwnSession? own;

    public EndpointSessions(
        BareEndpointBuilder endpoint, PostgreSqlMode mode, DatabaseAccess queueDatabase, DatabaseAccess dataDatabase, Workers workers, ILogger log)
    {
        (Endpoint, QueueDatabase, DataDatabase, Workers, Log) = (endpoint, queueDatabase, dataDatabase, workers, log);
        Recoverability = new Recoverability(endpoint.Mode, endpoint.FirstPause, FailureKinds.OfPostgreSql, endpoint.RetryDelays, log);
        statements = new QueueStatements(endpoint.Name);
        asynchronous = endpoint.Flush == LogFlush.Every ? default : mode.Asynchronous;
        queues = new QueueSource(queueDatabase, mode.IsEnlisted);
        receives = asynchronous.OfReceives ? new QueueSource(queueDatabase.CommittingAsynchronously(), mode.IsEnlisted) : queues;
        handlers = asynchronous.OfHandlers ? dataDatabase.CommittingAsynchronously() : dataDatabase;
        data = handlers.Open(mode.IsEnlisted);
        Participants = ParticipantsOf(endpoint, dataDatabase);
    }

    public BareEndpointBuilder Endpoint { get; }

    public DatabaseAccess QueueDatabase { get; }

    public DatabaseAccess DataDatabase { get; }

    /// <summary>The handlers' databases, their own first.</summary>
    public IReadOnlyList<Participant> Participants { get; }

    /// <summary>Those whose branches workers' rows decide: see <see cref="ServerPair.Place"/>.</summary>
    public IReadOnlyCollection<string> Places { get; set; } = [];

    public Workers Workers { get; }

    public ILogger Log { get; }

    public Recoverability Recoverability { get; }

    /// <summary>For statements in the queue's database that need no session.</summary>
    public NpgsqlDataSource Queues => queues.Source;

    /// <summary>The handlers' database.</summary>
    public NpgsqlDataSource Data => data.Source;

    public PuttingBack PuttingBack => new(() => OpenAnsweringAsync(CancellationToken.None), Endpoint.FirstPause, Recoverability);

    /// <inheritdoc cref="LocalTransaction.CommitAsync" path="/param[@name='isFlushed']"/>
    public bool IsFlushed => Endpoint.Flush == LogFlush.Every;

    /// <summary>The endpoint, as two-phase commit needs it.</summary>
    public TwoPhaseEndpoint InTwoPhases => new(
        Endpoint.Name, Endpoint.Mode, Endpoint.Concurrency, Endpoint.Transactions, Endpoint.RecoveryInterval, Log)
    {
        AcceptsAsynchronousStandbys = Endpoint.AcceptsAsynchronousStandbys,
        HowToAccept = $"call {nameof(PostgreSqlBareEndpointBuilderExtensions.AcceptAsynchronousStandbys)}()",
        Status = Endpoint.Status,
        Repeat = Workers.Repeat,
        EndAfterWorkers = EndAfterWorkers,
        Stopping = Workers.Stopping,
    };

    private string WhatNeedsOneServer => Endpoint.Flush == LogFlush.Every ? $"{Endpoint.Mode}" : $"{Endpoint.Mode} with flush '{Endpoint.Flush}'";

    /// <inheritdoc cref="Participants"/>
    public static IReadOnlyList<Participant> ParticipantsOf(BareEndpointBuilder endpoint, DatabaseAccess data) =>
        [new Participant("", data), .. endpoint.Participants];

    /// <summary>Ensures that the queue's tables exist, and that the sessions wait for the log as the endpoint's flush says.</summary>
    /// <exception cref="InvalidOperationException">A server lacks what the endpoint needs. The message says what to do.</exception>
    /// <exception cref="NpgsqlException">A database cannot be reached.</exception>
    public async Task PrepareAsync(CancellationToken cancellationToken)
    {
        statements = await new QueueTables(Endpoint.Name, statements, Queues, Log).PrepareAsync(Endpoint.LongestDelay, cancellationToken);
        own = await OwnSession.ReadAsync(Queues, cancellationToken);
        await RequireFlushesAsync(new FlushCheck(Endpoint.Name, Endpoint.Mode, Endpoint.Flush, Log), cancellationToken);
    }

    /// <summary>One worker's receiver. Where flushes are left out, its handlers must work on the server of its session.</summary>
    /// <param name="create">Creates it on the session and the handlers' database.</param>
    /// <param name="withTransactionId">Whether a receive also reads the id of its transaction.</param>
    public async Task<IReceiver> OpenAsync(Func<QueueSession, NpgsqlDataSource, IReceiver> create, bool withTransactionId = false)
    {
        var session = await OpenSessionAsync(withTransactionId);
        if (Endpoint.Flush == LogFlush.Every)
            return create(session, Data);

        var server = await ProveServerAsync(session);
        return new ProvedReceiver(create(session, server.Data), server);
    }

    /// <summary>A session that receives.</summary>
    public Task<QueueSession> OpenSessionAsync(bool withTransactionId = false) => QueueSession.OpenAsync(
        receives,
        statements,
        new QueueSessionSettings(Endpoint.Mode.Isolation, withTransactionId, Endpoint.ReceivesAhead, own!, IsLent: Endpoint.Mode.NeedsOneDatabase),
        Workers.Abandoned);

    /// <summary>The session, or where its receives do not wait for the log, one that does nothing but receive on it.</summary>
    public IQueueSession OnlyReceiving(QueueSession session) => asynchronous.OfReceives
        ? new ReceiveApart(session, async () => await OpenAnsweringAsync(Workers.Abandoned))
        : session;

    /// <summary>A receiver of batches, if the endpoint has them.</summary>
    /// <param name="session">The worker's session.</param>
    /// <param name="one">Receives one message at a time.</param>
    /// <param name="batch">Creates what receives a batch of that size.</param>
    public IReceiver InBatches(QueueSession session, IReceiver one, Func<int, IBatchReceiver> batch) => Endpoint.BatchSize == 1
        ? one
        : new BatchReceiver(session, one, batch(Endpoint.BatchSize), Endpoint.BatchSize, Log);

    public async Task RequireOneServerAsync(CancellationToken cancellationToken)
    {
        await using var queue = await Queues.OpenConnectionAsync(cancellationToken);
        await using var proved = await OneServer.ProveAsync(queue, handlers.Text(enlist: false), WhatNeedsOneServer, cancellationToken);
    }

    public async Task<OneServer> ProveServerAsync(QueueSession session)
    {
        var server = await OpenOnAsync(
            session, () => OneServer.ProveAsync(session.Connection, handlers.Text(enlist: false), WhatNeedsOneServer, Workers.Abandoned));
        AddHandlersData(server.Data, DataDatabase);
        return server;
    }

    /// <summary>Handlers are also lent connections of this pool.</summary>
    public void AddHandlersData(NpgsqlDataSource pool, DatabaseAccess of) => lentPools.Add(pool, of);

    /// <summary>Whether one of the handlers' databases has turned read-only.</summary>
    public async Task<bool> IsReadOnlyAsync(CancellationToken cancellationToken)
    {
        foreach (var participant in Participants)
        {
            var pools = lentPools.Where(pool => pool.Value == participant.Database).Select(pool => pool.Key);
            if (await ReadOnlyServer.IsSoAsync(
                participant.Database, participant.Database == DataDatabase ? pools.Append(Data) : pools, cancellationToken))
                return true;
        }

        return false;
    }

    /// <summary>For statements in a handlers' database.</summary>
    public NpgsqlDataSource OpenData(Participant participant)
    {
        if (participant.Database == DataDatabase)
            return Data;

        var opened = participant.Database.Open(enlist: false);
        EndAfterWorkers(opened);
        return opened.Source;
    }

    /// <summary>Opens something on a new session, which is closed if that fails.</summary>
    public static async Task<T> OpenOnAsync<T>(QueueSession session, Func<Task<T>> open)
    {
        try
        {
            return await open();
        }
        catch
        {
            await session.DisposeAsync();
            throw;
        }
    }

    /// <summary>Answers an attempt whose session was lost, on a new session.</summary>
    public Task AnswerAsync(AttemptLostException lost) =>
        Recoverability.AnswerOnNewSessionAsync(async () => await OpenAnsweringAsync(Workers.Abandoned), lost.QueuedMessage, lost.Failure);

    /// <summary>Ends something that the workers share, when none runs any more.</summary>
    public void EndAfterWorkers(IAsyncDisposable ended) => shared.Push(ended);

    /// <summary>Ends what the workers share. Call it when none runs.</summary>
    public async Task EndAsync()
    {
        while (shared.TryPop(out var ended))
            await ended.DisposeAsync();
    }

    public async ValueTask DisposeAsync()
    {
        await data.DisposeAsync();
        if (receives != queues)
            await receives.DisposeAsync();
        await queues.DisposeAsync();
    }

    private async Task RequireFlushesAsync(FlushCheck check, CancellationToken cancellationToken)
    {
        await check.RequireAsync(receives.Source, PoolSizes.Queue, asynchronous.OfReceives, cancellationToken);
        // Handlers work on the session that received.
        if (Endpoint.Mode.NeedsOneDatabase)
            return;

        // Where the endpoint commits once, that commit waits.
        if (!IsFlushed || Endpoint.Mode.RowCommit != RowCommit.Once)
            await check.RequireAsync(Data, PoolSizes.Data, asynchronous.OfHandlers, cancellationToken);
        if (Endpoint.Flush == LogFlush.Every)
            return;

        // If receives do not wait, the queue's other commits still have to: sends, and messages that are given up.
        if (asynchronous.OfReceives)
            await check.RequireAsync(Queues, PoolSizes.Queue, isAsynchronous: false, cancellationToken);
        await RequireOneServerAsync(cancellationToken);
    }

    /// <summary>A session that puts messages back, gives them up or sends, and receives none.</summary>
    private Task<QueueSession> OpenAnsweringAsync(CancellationToken stop) => QueueSession.OpenAsync(
        queues, statements, new QueueSessionSettings(Endpoint.Mode.Isolation, WithTransactionId: false, ReceivesAhead: false, own!), stop);
}
