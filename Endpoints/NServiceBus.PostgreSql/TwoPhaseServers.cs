using System.Numerics;
using Kit.Endpoints.Bare;
using Kit.Endpoints.Bare.Health;
using Kit.Endpoints.Bare.PostgreSql.Queues;
using Kit.Endpoints.Bare.PostgreSql.TwoPhase;
using Kit.Modes;
using Microsoft.Extensions.Logging;
using Npgsql;
using NServiceBus;

namespace Kit.Endpoints.NServiceBus.PostgreSql;

/// <summary>The queue's and the handlers' database of one receiver, checked, with the decisions on its messages and their second phase.</summary>
internal sealed partial class TwoPhaseServers : IAsyncDisposable
{
    /// <summary>The transport looks for messages on a connection of its own.</summary>
    private const int Peeking = 1;

    private readonly Stack<IAsyncDisposable> opened = new();
    private readonly RepeatedWork repeated;
    private readonly ILogger log;
    private FullDtc? mode;
    private IDecisions? decisions;
    private int timesElsewhere;

    private TwoPhaseServers(ILogger log)
    {
        repeated = new RepeatedWork(log);
        this.log = log;
    }

    public FullDtc Mode => mode!;

    public IDecisions Decisions => decisions!;

    /// <summary>The handlers' connections.</summary>
    public NpgsqlDataSource Handlers => Decisions.Data[""];

    /// <param name="endpoint">The receiver's queue.</param>
    /// <param name="concurrency">How many messages it handles at a time.</param>
    /// <param name="transport">The transport.</param>
    /// <param name="transactions">The mode's settings.</param>
    /// <param name="queues">The transport's connections.</param>
    /// <param name="status">What the receiver reports about itself.</param>
    /// <param name="log">Its log.</param>
    /// <param name="cancellationToken">Cancels the start.</param>
    /// <exception cref="InvalidOperationException">The servers lack something that the mode needs. The message says what to do.</exception>
    public static async Task<TwoPhaseServers> OpenAsync(
        string endpoint, int concurrency, TwoPhasePostgreSqlTransport transport, TransactionSettings transactions, NpgsqlDataSource queues,
        EndpointStatus status, ILogger log, CancellationToken cancellationToken)
    {
        // The host may be started inside an ambient transaction, which the endpoint must not join.
        using var detached = DetachedDataSource.Detach();
        if (transport.Queues.HasSeveralHosts || transport.Data.HasSeveralHosts)
        {
            throw new InvalidOperationException(
                $"Endpoint '{endpoint}' cannot run in full-dtc with a list of hosts: its connections could meet different servers " +
                $"({AddressOf(transport.Queues)}; {AddressOf(transport.Data)}). Name one host.");
        }

        transport.ConnectionsOfReceivers += concurrency + Peeking;
        PoolSizes.Require(
            endpoint, concurrency, transport.Queues, transport.ConnectionsOfReceivers, $"{PoolSizes.Queue}, which all receivers share");
        PoolSizes.Require(endpoint, concurrency, transport.Data, concurrency, PoolSizes.Data);
        var pooler = new PoolerCheck(endpoint, log);
        await pooler.RequireSessionsAsync(transport.Queues, PoolSizes.Queue, cancellationToken);
        await pooler.RequireSessionsAsync(transport.Data, PoolSizes.Data, cancellationToken);
        var servers = new TwoPhaseServers(log);
        try
        {
            await servers.StartAsync(
                new TwoPhaseEndpoint(endpoint, TransactionMode.FullDtc, concurrency, transactions, transport.RecoveryInterval, log)
                {
                    AcceptsAsynchronousStandbys = transport.AcceptsAsynchronousStandbys,
                    HowToAccept = $"set the transport's {nameof(TwoPhasePostgreSqlTransport.AcceptsAsynchronousStandbys)}",
                    Status = status,
                    Repeat = servers.repeated.Add,
                    EndAfterWorkers = servers.opened.Push,
                },
                transport, queues, cancellationToken);
            return servers;
        }
        catch
        {
            await servers.DisposeAsync();
            throw;
        }
    }

    /// <summary>From now on recovery runs at intervals.</summary>
    public void Run() => repeated.Start();

    /// <summary>Closes the pooled connections, some of which may lead to a server that was replaced.</summary>
    /// <param name="mismatch">Why a message was given back.</param>
    public void ForgetOtherServer(string mismatch)
    {
        Handlers.Clear();
        var times = Interlocked.Increment(ref timesElsewhere);
        if (BitOperations.IsPow2(times))
            LogElsewhere(times, mismatch);
    }

    public async ValueTask DisposeAsync()
    {
        await repeated.DisposeAsync();
        while (opened.TryPop(out var one))
            await one.DisposeAsync();
    }

    private async Task StartAsync(
        TwoPhaseEndpoint endpoint, TwoPhasePostgreSqlTransport transport, NpgsqlDataSource queues, CancellationToken cancellationToken)
    {
        var data = Opened(NpgsqlDataSource.Create(transport.Data.Text(enlist: false)));
        var queue = await QueueDatabase.ReadAsync(queues, cancellationToken);
        // A copy of a server has the identifier of its origin, and is refused.
        var isOneServer = queue.SystemIdentifier == (await QueueDatabase.ReadAsync(data, cancellationToken)).SystemIdentifier;
        var handlers = new Participant("", transport.Data);
        if (isOneServer)
        {
            var mismatch =
                $"Endpoint '{endpoint.Name}' found the queue and the handlers' database on a PostgreSQL server and on a copy of it: " +
                $"{AddressOf(transport.Queues)} (queue) and {AddressOf(transport.Data)} (data). Point both connection strings to the same server, or to two " +
                "that are no copies, or use another mode.";
            if (await RunningServer.ReadAsync(queues, cancellationToken) != await RunningServer.ReadAsync(data, cancellationToken))
                throw new InvalidOperationException(mismatch);

            var receives = new ReceivesAsDecisions(queue);
            mode = await FullDtc.StartAsync(endpoint, [new DecidedParticipant(handlers, receives, Sharing: 1)], isWaiting: false, cancellationToken);
            decisions = new DecisionsOnOneServer(receives, data, mismatch);
            return;
        }

        var isolation = transport.Inner.TransactionScope.IsolationLevel;
        if (isolation is not System.Transactions.IsolationLevel.ReadCommitted)
        {
            throw new InvalidOperationException(
                $"Endpoint '{endpoint.Name}' cannot run in full-dtc over two servers with a receive in {isolation}: its snapshot would hide the row that " +
                "decides. Leave the transport's TransactionScope.IsolationLevel at ReadCommitted.");
        }

        // Apart from the transport's pool, all of whose connections can be those of messages that wait for this.
        var apart = Opened(new QueueSource(transport.Queues, enlist: false));
        var (rows, participants) = await ApartServers.PrepareAsync(
            endpoint, transport.Queues, apart.Source, [handlers], _ => data, cancellationToken);
        // Ends after the mode: until the last branch has had its second phase, its worker lives.
        decisions = Opened(new DecisionsOfWorkers(rows, apart));
        mode = await FullDtc.StartAsync(endpoint, participants, isWaiting: false, cancellationToken);
    }

    private T Opened<T>(T one)
        where T : IAsyncDisposable
    {
        opened.Push(one);
        return one;
    }

    private static string AddressOf(DatabaseAccess database) => $"{database.Settings.Host}:{database.Settings.Port}";

    [LoggerMessage(Level = LogLevel.Error, Message = "Messages that went back to their queue without an attempt: {Times}. {Reason}")]
    private partial void LogElsewhere(int times, string reason);
}
