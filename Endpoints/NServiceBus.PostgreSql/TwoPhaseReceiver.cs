using System.Collections.Concurrent;
using System.Data;
using System.Data.Common;
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

    /// <summary>How long a message that found no slot, or no right server, stays received before it goes back to its queue.</summary>
    private static readonly TimeSpan Pause = TimeSpan.FromMilliseconds(200);

    private readonly ConcurrentDictionary<AwaitingUnit, (Task Finished, TaskCompletionSource Closed)> finishing = new();
    private TwoPhaseServers? servers;
    private RepeatedRecovery? recovery;

    public ISubscriptionManager Subscriptions => inner.Subscriptions;

    public string Id => inner.Id;

    public string ReceiveAddress => inner.ReceiveAddress;

    private TwoPhaseServers Servers => servers ?? throw new InvalidOperationException($"The receiver of '{ReceiveAddress}' is not initialized.");

    /// <exception cref="InvalidOperationException">The servers lack something that the mode needs. The message says what to do.</exception>
    public async Task Initialize(PushRuntimeSettings limitations, OnMessage onMessage, OnError onError, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(limitations);
        servers = await TwoPhaseServers.OpenAsync(ReceiveAddress, limitations.MaxConcurrency, transport, queues, log, cancellationToken);
        await inner.Initialize(
            limitations, (message, stop) => HandleAsync(message, onMessage, stop), (error, stop) => FailedAttempts.AnswerAsync(error, onError, stop),
            cancellationToken);
    }

    public async Task StartReceive(CancellationToken cancellationToken = default)
    {
        recovery ??= new RepeatedRecovery(Servers.Branches, transport.RecoveryInterval, log);
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
        if (servers is not null)
            await servers.DisposeAsync();
    }

    private async Task HandleAsync(MessageContext message, OnMessage onMessage, CancellationToken cancellationToken)
    {
        var receive = ReceiveOf(message);
        var attempts = FailedAttempts.Of(message);
        if (await TryTakeSlotAsync() is not { } slot)
        {
            await GiveBackAsync(receive, cancellationToken);
            return;
        }

        AwaitingUnit? unit = null;
        var transaction = AmbientTransaction.Create(settings);
        try
        {
            var (transactionId, server) = await RunningServer.ReadTransactionAsync(receive, cancellationToken);
            unit = new AwaitingUnit(Servers.Decisions.BranchOf(transactionId), server, Servers.Data, settings.Isolation);
            unit.EnlistIn(transaction);
            attempts.IsAttempt = true;
            await HandleInScopeAsync(message, onMessage, unit, transaction, cancellationToken);
            var committing = transaction.CommitAsync();
            await await Task.WhenAny(committing, unit.Ready);
            FinishWhenClosed(receive, slot, unit, transaction, committing);
        }
        catch (Exception failure)
        {
            await AbandonAsync(slot, unit, transaction);
            ReadOnlyServer.Leave(Servers.Data, failure);
            if (unit is { IsElsewhere: true })
                Servers.ForgetOtherServer();
            else if (Failure.ReasonOf(failure) is ServerRefusedException && unit?.Refusal is null)
                Servers.Branches.Slots.SawNone();
            else
            {
                if (!attempts.IsAttempt)
                    LogNoAttempt(failure.Message);
                ExceptionDispatchInfo.Throw(WithReason(failure));
            }

            attempts.IsAttempt = false;
            await GiveBackAsync(receive, cancellationToken);
        }
    }

    private async ValueTask<Slots.Slot?> TryTakeSlotAsync()
    {
        try
        {
            return await Servers.Branches.Slots.TryTakeAsync();
        }
        catch (NpgsqlException failure)
        {
            LogNoAttempt(failure.Message);
            return null;
        }
    }

    private static async Task HandleInScopeAsync(
        MessageContext message, OnMessage onMessage, AwaitingUnit unit, CommittableTransaction transaction, CancellationToken cancellationToken)
    {
        using var scope = AmbientTransaction.Enter(transaction);
        message.TransportTransaction.Set<Transaction>(transaction);
        message.Extensions.Set(unit);
        await onMessage(message, cancellationToken);
        // A handler that swallowed it has no branch that could fail.
        if (unit.Refusal is { } refusal)
            throw new ServerRefusedException(refusal);
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
            unit.Decide(await Servers.SecondPhase.FinishAsync(unit.Id, unit.IsPrepared));
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
                Servers.Branches.Slots.Leave(unit.Id);
            }

            slot.Dispose();
            transaction.Dispose();
        }
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
                $"Expected NServiceBus.Transport.PostgreSql 9.1.x, which passes the receive's NpgsqlConnection as '{ConnectionKey}'. Found none. " +
                "Reference version 9.1.x.");

    [LoggerMessage(Level = LogLevel.Warning, Message = "The lent connection could not be returned: {Reason}")]
    private partial void LogNotReturned(string reason);

    [LoggerMessage(Level = LogLevel.Warning, Message = "A message goes back to its queue before its handler began, and no attempt is counted: {Reason}")]
    private partial void LogNoAttempt(string reason);
}
