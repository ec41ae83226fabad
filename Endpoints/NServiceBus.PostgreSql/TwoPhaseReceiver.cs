using System.Collections.Concurrent;
using System.Data;
using System.Data.Common;
using System.Numerics;
using System.Runtime.ExceptionServices;
using System.Transactions;
using Kit.Endpoints.Bare;
using Kit.Endpoints.Bare.PostgreSql.TwoPhase;
using Kit.Modes;
using Microsoft.Extensions.Logging;
using Npgsql;
using NServiceBus;
using NServiceBus.Transport;
using MessageContext = NServiceBus.Transport.MessageContext;

namespace Kit.Endpoints.NServiceBus.PostgreSql;

/// <summary>
/// Joins the handler's work to the transport's receive. The transport begins the receive's transaction, calls this, and commits. Between the two
/// this prepares the handler's branch, so that the transport's commit is the decision. When the transport closes the receive's connection, this
/// asks the server for the decision, and ends the branch.
/// </summary>
internal sealed partial class TwoPhaseReceiver(
    IMessageReceiver inner, TwoPhasePostgreSqlTransport transport, NpgsqlDataSource queues, TransactionSettings settings, ILogger log)
    : IMessageReceiver, IAsyncDisposable
{
    // The transport's own key, for every driver (TransportTransactionKeys in NServiceBus.SqlServer 9.1.0).
    private const string ConnectionKey = "System.Data.SqlClient.SqlConnection";

    /// <summary>The transport looks for messages on a connection of its own.</summary>
    private const int Peeking = 1;

    /// <summary>How long a message that found no slot, or no right server, stays received before it goes back to its queue.</summary>
    private static readonly TimeSpan Pause = TimeSpan.FromMilliseconds(200);

    private readonly ConcurrentDictionary<AwaitingUnit, (Task Finished, TaskCompletionSource Closed)> finishing = new();
    private Branches? branches;
    private NpgsqlDataSource? data;
    private AskingSecondPhase? secondPhase;
    private RepeatedRecovery? recovery;
    private int elsewhere;

    public ISubscriptionManager Subscriptions => inner.Subscriptions;

    public string Id => inner.Id;

    public string ReceiveAddress => inner.ReceiveAddress;

    /// <exception cref="InvalidOperationException">The servers lack something that the mode needs. The message says what to do.</exception>
    public async Task Initialize(PushRuntimeSettings limitations, OnMessage onMessage, OnError onError, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(limitations);
        try
        {
            await RequireServersAsync(limitations.MaxConcurrency, cancellationToken);
        }
        catch
        {
            await DisposeAsync();
            throw;
        }

        await inner.Initialize(limitations, (message, stop) => HandleAsync(message, onMessage, stop), onError, cancellationToken);
    }

    public async Task StartReceive(CancellationToken cancellationToken = default)
    {
        recovery ??= new RepeatedRecovery(branches!, transport.RecoveryInterval, log);
        await inner.StartReceive(cancellationToken);
    }

    public Task ChangeConcurrency(PushRuntimeSettings limitations, CancellationToken cancellationToken = default) =>
        inner.ChangeConcurrency(limitations, cancellationToken);

    /// <summary>Also waits for the second phases of what was handled.</summary>
    public async Task StopReceive(CancellationToken cancellationToken = default)
    {
        await inner.StopReceive(cancellationToken);
        var last = finishing.Values.ToList();
        // The transport has closed every connection by now, even one whose driver did not say so.
        foreach (var unit in last)
            unit.Closed.TrySetResult();

        await Task.WhenAll(last.Select(unit => unit.Finished));
    }

    public async ValueTask DisposeAsync()
    {
        if (recovery is not null)
            await recovery.DisposeAsync();
        if (secondPhase is not null)
            await secondPhase.DisposeAsync();
        if (branches is not null)
            await branches.DisposeAsync();
        if (data is not null)
            await data.DisposeAsync();
    }

    private async Task RequireServersAsync(int concurrency, CancellationToken cancellationToken)
    {
        // The host may be started inside an ambient transaction, which the endpoint must not join.
        using var detached = DetachedDataSource.Detach();
        if (transport.Queues.HasSeveralHosts || transport.Data.HasSeveralHosts)
        {
            throw new InvalidOperationException(
                $"Endpoint '{ReceiveAddress}' cannot run in full-dtc with a list of hosts: its connections could meet different servers " +
                $"({AddressOf(transport.Queues)}; {AddressOf(transport.Data)}). Name one host.");
        }

        PoolSizes.Require(ReceiveAddress, concurrency, transport.Queues, concurrency + Peeking, PoolSizes.Queue);
        PoolSizes.Require(ReceiveAddress, concurrency, transport.Data, concurrency, PoolSizes.Data);
        var pooler = new PoolerCheck(ReceiveAddress, log);
        await pooler.RequireSessionsAsync(transport.Queues, PoolSizes.Queue, cancellationToken);
        await pooler.RequireSessionsAsync(transport.Data, PoolSizes.Data, cancellationToken);
        data = NpgsqlDataSource.Create(transport.Data.Text(enlist: false));
        if (await RunningServer.ReadAsync(queues, cancellationToken) != await RunningServer.ReadAsync(data, cancellationToken))
            throw OnTwoServers();

        branches = await Branches.StartAsync(queues, transport.Data.Settings, concurrency, log, cancellationToken);
        secondPhase = new AskingSecondPhase(branches.Data, branches.Slots, log);
    }

    private async Task HandleAsync(MessageContext message, OnMessage onMessage, CancellationToken cancellationToken)
    {
        var receive = ReceiveOf(message);
        if (await branches!.Slots.TryTakeAsync() is not { } slot)
        {
            await GiveBackAsync(receive, cancellationToken);
            return;
        }

        AwaitingUnit? unit = null;
        var transaction = AmbientTransaction.Create(settings);
        try
        {
            var (transactionId, server) = await RunningServer.ReadTransactionAsync(receive, cancellationToken);
            unit = new AwaitingUnit(new BranchId(branches.Database, transactionId), server, data!, settings.Isolation);
            unit.EnlistIn(transaction);
            await HandleInScopeAsync(message, onMessage, unit, transaction, cancellationToken);
            var committing = transaction.CommitAsync();
            await await Task.WhenAny(committing, unit.Ready);
            FinishWhenClosed(receive, slot, unit, transaction, committing);
        }
        catch (Exception failure)
        {
            await AbandonAsync(slot, unit, transaction);
            if (!IsRefused(failure, unit))
            {
                ExceptionDispatchInfo.Throw(WithReason(failure));
                return;
            }

            await GiveBackAsync(receive, cancellationToken);
        }
    }

    private static async Task HandleInScopeAsync(
        MessageContext message, OnMessage onMessage, AwaitingUnit unit, CommittableTransaction transaction, CancellationToken cancellationToken)
    {
        using var scope = AmbientTransaction.Enter(transaction);
        message.TransportTransaction.Set<Transaction>(transaction);
        message.Extensions.Set(unit);
        await onMessage(message, cancellationToken);
        scope.Complete();
    }

    /// <summary>The unit's second phase begins when the transport has closed the receive's connection, after its commit or roll-back.</summary>
    private void FinishWhenClosed(NpgsqlConnection receive, Slots.Slot slot, AwaitingUnit unit, CommittableTransaction transaction, Task committing)
    {
        var closed = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        if (unit.IsPrepared)
            slot.Keep();

        finishing[unit] = (FinishAsync(), closed);
        receive.StateChange += Close;
        // A connection that broke, or that the handler closed, raises the event only once.
        if (receive.State != ConnectionState.Open)
            closed.TrySetResult();

        void Close(object sender, StateChangeEventArgs change)
        {
            if (change.CurrentState == ConnectionState.Open)
                return;

            receive.StateChange -= Close;
            closed.TrySetResult();
        }

        async Task FinishAsync()
        {
            await closed.Task;
            unit.Decide(await secondPhase!.FinishAsync(unit.Id, unit.IsPrepared));
            slot.Dispose();
            // NServiceBus reports a commit that failed, and the second phase an outcome that is unknown. This only waits for the end.
            await committing.ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
            transaction.Dispose();
            finishing.TryRemove(unit, out _);
        }
    }

    private async ValueTask AbandonAsync(Slots.Slot slot, AwaitingUnit? unit, CommittableTransaction transaction)
    {
        try
        {
            if (unit is not null)
                await unit.DisposeAsync();
        }
        catch (Exception failure)
        {
            // The handler left a command running on the lent connection. Its own failure is the one that counts.
            LogNotReturned(failure.Message);
        }
        finally
        {
            if (unit is { IsLeft: true })
            {
                slot.Keep();
                branches!.Slots.Leave(unit.Id);
            }

            slot.Dispose();
            transaction.Dispose();
        }
    }

    /// <summary>Whether the server refused to prepare the branch, or it was on another server. That is not the message's failure.</summary>
    private bool IsRefused(Exception failure, AwaitingUnit? unit)
    {
        if (unit is { IsElsewhere: true })
        {
            // The pool may still have connections to the server that was replaced.
            data!.Clear();
            if (BitOperations.IsPow2(Interlocked.Increment(ref elsewhere)))
                LogElsewhere(elsewhere, OnTwoServers().Message);
            return true;
        }

        if (FailureKinds.Of(failure) is not FailureKind.Refused || unit?.Refusal is not null)
            return false;

        branches!.Slots.SawNone();
        return true;
    }

    /// <summary>
    /// Gives a message back without an attempt. The transport commits what it began after this, so that has to be empty: a roll-back, and a new
    /// transaction.
    /// </summary>
    private static async Task GiveBackAsync(NpgsqlConnection receive, CancellationToken cancellationToken)
    {
        await using (var release = new NpgsqlCommand("ROLLBACK; BEGIN", receive))
            await release.ExecuteNonQueryAsync(CancellationToken.None);

        await Task.Delay(Pause, cancellationToken).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
    }

    /// <summary>The same failure with its reason in its message, because NServiceBus's headers show only that of the outermost exception.</summary>
    private static Exception WithReason(Exception failure) =>
        failure is TransactionException { InnerException: { } reason } ? new TransactionAbortedException(reason.Message, reason) : failure;

    private static NpgsqlConnection ReceiveOf(MessageContext message) =>
        message.TransportTransaction.TryGet(ConnectionKey, out DbConnection? connection) && connection is NpgsqlConnection receive
            ? receive
            : throw new NotSupportedException(
                $"NServiceBus's PostgreSQL transport does not name its connection '{ConnectionKey}' as 9.1.0 does. Use a version that the kit supports.");

    private InvalidOperationException OnTwoServers() => new(
        $"Endpoint '{ReceiveAddress}' needs the queue and the handlers' database on one PostgreSQL server for full-dtc, but " +
        $"{AddressOf(transport.Queues)} (queue) and {AddressOf(transport.Data)} (data) are two, or a copy of a server and its origin. " +
        "Point both connection strings to the same server, or use another mode.");

    private static string AddressOf(DatabaseAccess database) => $"{database.Settings.Host}:{database.Settings.Port}";

    [LoggerMessage(Level = LogLevel.Error, Message = "A message went back to its queue without an attempt, for the {Times}. time. {Reason}")]
    private partial void LogElsewhere(int times, string reason);

    [LoggerMessage(Level = LogLevel.Warning, Message = "The lent connection could not be returned: {Reason}")]
    private partial void LogNotReturned(string reason);
}
