using System.Numerics;
using Kit.Endpoints.Bare;
using Kit.Endpoints.Bare.PostgreSql.TwoPhase;
using Microsoft.Extensions.Logging;
using Npgsql;
using NServiceBus;

namespace Kit.Endpoints.NServiceBus.PostgreSql;

/// <summary>The queue's and the handlers' database of one receiver, checked: its branches, their second phase and the handlers' connections.</summary>
internal sealed partial class TwoPhaseServers : IAsyncDisposable
{
    /// <summary>The transport looks for messages on a connection of its own.</summary>
    private const int Peeking = 1;

    private readonly string onTwoServers;
    private readonly ILogger log;
    private int timesElsewhere;

    private TwoPhaseServers(ReceivesAsDecisions decisions, Branches branches, NpgsqlDataSource data, string onTwoServers, ILogger log)
    {
        Decisions = decisions;
        Branches = branches;
        Data = data;
        SecondPhase = new AskingSecondPhase(branches.Data, branches.Slots, log);
        this.onTwoServers = onTwoServers;
        this.log = log;
    }

    public ReceivesAsDecisions Decisions { get; }

    public Branches Branches { get; }

    /// <summary>The handlers' connections, which do not enlist.</summary>
    public NpgsqlDataSource Data { get; }

    public AskingSecondPhase SecondPhase { get; }

    /// <exception cref="InvalidOperationException">The servers lack something that the mode needs. The message says what to do.</exception>
    public static async Task<TwoPhaseServers> OpenAsync(
        string endpoint, int concurrency, TwoPhasePostgreSqlTransport transport, NpgsqlDataSource queues, ILogger log,
        CancellationToken cancellationToken)
    {
        // The host may be started inside an ambient transaction, which the endpoint must not join.
        using var detached = DetachedDataSource.Detach();
        if (transport.Queues.HasSeveralHosts || transport.Data.HasSeveralHosts)
        {
            throw new InvalidOperationException(
                $"Endpoint '{endpoint}' cannot run in full-dtc with a list of hosts: its connections could meet different servers " +
                $"({AddressOf(transport.Queues)}; {AddressOf(transport.Data)}). Name one host.");
        }

        PoolSizes.Require(endpoint, concurrency, transport.Queues, concurrency + Peeking, PoolSizes.Queue);
        PoolSizes.Require(endpoint, concurrency, transport.Data, concurrency, PoolSizes.Data);
        var pooler = new PoolerCheck(endpoint, log);
        await pooler.RequireSessionsAsync(transport.Queues, PoolSizes.Queue, cancellationToken);
        await pooler.RequireSessionsAsync(transport.Data, PoolSizes.Data, cancellationToken);
        var data = NpgsqlDataSource.Create(transport.Data.Text(enlist: false));
        try
        {
            var mismatch =
                $"Endpoint '{endpoint}' needs the queue and the handlers' database on one PostgreSQL server for full-dtc, but " +
                $"{AddressOf(transport.Queues)} (queue) and {AddressOf(transport.Data)} (data) are two, or a copy of a server and its origin. " +
                "Point both connection strings to the same server, or use another mode.";
            if (await RunningServer.ReadAsync(queues, cancellationToken) != await RunningServer.ReadAsync(data, cancellationToken))
                throw new InvalidOperationException(mismatch);

            var decisions = new ReceivesAsDecisions(await QueueDatabase.ReadAsync(queues, cancellationToken));
            var branches = await Branches.StartAsync(
                decisions, new Participant("", transport.Data), sharing: 1, concurrency, log, cancellationToken);
            return new TwoPhaseServers(decisions, branches, data, mismatch, log);
        }
        catch
        {
            await data.DisposeAsync();
            throw;
        }
    }

    /// <summary>Closes the pooled connections, some of which may lead to a server that was replaced.</summary>
    public void ForgetOtherServer()
    {
        Data.Clear();
        var times = Interlocked.Increment(ref timesElsewhere);
        if (BitOperations.IsPow2(times))
            LogElsewhere(times, onTwoServers);
    }

    public async ValueTask DisposeAsync()
    {
        await SecondPhase.DisposeAsync();
        await Branches.DisposeAsync();
        await Data.DisposeAsync();
    }

    private static string AddressOf(DatabaseAccess database) => $"{database.Settings.Host}:{database.Settings.Port}";

    [LoggerMessage(Level = LogLevel.Error, Message = "Messages that went back to their queue without an attempt: {Times}. {Reason}")]
    private partial void LogElsewhere(int times, string reason);
}
