using System.Data.Common;
using System.Runtime.ExceptionServices;
using System.Transactions;
using Kit.Endpoints.Bare;
using Kit.Endpoints.Bare.Health;
using Kit.Endpoints.Bare.PostgreSql.TwoPhase;
using Kit.Modes;
using Microsoft.Extensions.Logging;
using Npgsql;
using NServiceBus;
using NServiceBus.Transport;
using MessageContext = NServiceBus.Transport.MessageContext;

namespace Kit.Endpoints.NServiceBus.PostgreSql;

/// <summary>
/// Joins the handler's work to the transport's receive. The transport begins the receive's transaction, calls this, and commits. Between the two this prepares
/// the handler's branch, commits the receive's transaction, which is the decision, and leaves the transport an empty one.
/// </summary>
internal sealed partial class TwoPhaseReceiver(
    IMessageReceiver inner, TwoPhasePostgreSqlTransport transport, NpgsqlDataSource queues, TransactionSettings settings, ILogger log)
    : IMessageReceiver, IAsyncDisposable
{
    // The transport's own key, for every driver (TransportTransactionKeys in NServiceBus.SqlServer 9.1.0).
    private const string ConnectionKey = "System.Data.SqlClient.SqlConnection";

    /// <summary>How long a message that no attempt failed stays received before it goes back to its queue.</summary>
    private static readonly TimeSpan Pause = TimeSpan.FromMilliseconds(200);

    private readonly FailedAttempts attempts = new();
    private EndpointStatus? status;
    private TwoPhaseServers? servers;

    public ISubscriptionManager Subscriptions => inner.Subscriptions;

    public string Id => inner.Id;

    public string ReceiveAddress => inner.ReceiveAddress;

    private TwoPhaseServers Servers => servers ?? throw new InvalidOperationException($"The receiver of '{ReceiveAddress}' is not initialized.");

    /// <exception cref="InvalidOperationException">The servers lack something that the mode needs. The message says what to do.</exception>
    public async Task Initialize(PushRuntimeSettings limitations, OnMessage onMessage, OnError onError, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(limitations);
        status = new EndpointStatus(ReceiveAddress);
        servers = await TwoPhaseServers.OpenAsync(
            ReceiveAddress, limitations.MaxConcurrency, transport, settings, queues, status, log, cancellationToken);
        transport.Statuses.Add(status);
        await inner.Initialize(
            limitations, (message, stop) => HandleAsync(message, onMessage, stop), (error, stop) => attempts.AnswerAsync(error, onError, stop),
            cancellationToken);
    }

    public async Task StartReceive(CancellationToken cancellationToken = default)
    {
        Servers.Run();
        await inner.StartReceive(cancellationToken);
    }

    public Task ChangeConcurrency(PushRuntimeSettings limitations, CancellationToken cancellationToken = default) =>
        inner.ChangeConcurrency(limitations, cancellationToken);

    public Task StopReceive(CancellationToken cancellationToken = default) => inner.StopReceive(cancellationToken);

    /// <summary>Also commits the branches that wait for their second phase. Call it when nothing is received any more.</summary>
    public async ValueTask DisposeAsync()
    {
        if (servers is not null)
            await servers.DisposeAsync();
        status?.Dispose();
    }

    private async Task HandleAsync(MessageContext message, OnMessage onMessage, CancellationToken cancellationToken)
    {
        if (FailedAttempts.FailureOfAnswer(message) is { } unanswered)
        {
            await PauseAsync(cancellationToken);
            unanswered.Throw();
        }

        var receive = ReceiveOf(message);
        try
        {
            if (await TryHandleAsync(message, receive, onMessage, cancellationToken))
            {
                attempts.Clear(message.NativeMessageId);
                return;
            }

            await TransportReceive.GiveBackAsync(receive);
        }
        catch (Exception failure) when (!TransportReceive.IsOpen(receive) && !cancellationToken.IsCancellationRequested)
        {
            // The transport cannot commit. If it had to roll back, it would fail at that, too, and log another failure.
            LogLost(Failure.ReasonOf(failure).Message);
            return;
        }

        await PauseAsync(cancellationToken);
    }

    /// <returns>Whether it is handled; if not, it goes back without an attempt.</returns>
    private async Task<bool> TryHandleAsync(
        MessageContext message, NpgsqlConnection receive, OnMessage onMessage, CancellationToken cancellationToken)
    {
        AtomicUnit? unit = null;
        Exception? ofHandler = null;
        try
        {
            if (await Servers.Mode.TryTakeSlotsAsync() is not { } slots)
                return false;

            using (slots)
            {
                var decision = await Servers.Decisions.OfAsync(receive, cancellationToken);
                await Servers.Mode.RunAsync(slots, decision, Servers.Decisions.Data, async begun =>
                {
                    unit = begun;
                    try
                    {
                        await HandleInScopeAsync(message, onMessage, unit, cancellationToken);
                    }
                    catch (Exception failure)
                    {
                        ofHandler = failure;
                        throw;
                    }
                });
            }

            return true;
        }
        catch (Exception failure)
        {
            // The handler left a command running on the lent connection. Its own failure is the one that counts.
            if (ofHandler is not null && failure != ofHandler)
                LogNotReturned(failure.Message);
            await ThrowIfOfMessageAsync(message, unit, ofHandler ?? failure, cancellationToken);
            return false;
        }
    }

    private async Task HandleInScopeAsync(MessageContext message, OnMessage onMessage, AtomicUnit unit, CancellationToken cancellationToken)
    {
        using var transaction = AmbientTransaction.Create(settings);
        unit.EnlistIn(transaction);
        using (var scope = AmbientTransaction.Enter(transaction))
        {
            message.TransportTransaction.Set<Transaction>(transaction);
            message.Extensions.Set<UnitWithBranches>(unit);
            await onMessage(message, cancellationToken);
            // A handler that swallowed it has no branch that could fail.
            if (unit.Refusal is { } refusal)
                throw new ServerRefusedException(refusal);
            scope.Complete();
        }

        await transaction.CommitAsync();
    }

    /// <summary>Counts the failure as an attempt and throws it, if it is the message's, and not that of the servers or of the worker.</summary>
    private async Task ThrowIfOfMessageAsync(MessageContext message, AtomicUnit? unit, Exception failure, CancellationToken cancellationToken)
    {
        var reason = Failure.ReasonOf(failure);
        ReadOnlyServer.Leave(Servers.Handlers, failure);
        if (Servers.Decisions.MismatchOf(reason) is { } mismatch)
            Servers.ForgetOtherServer(mismatch);
        else if (unit is null || unit.Refusal is not null || reason is FencedException || await IsRefusedAsync(failure, cancellationToken))
        {
            if (unit is not null)
                Servers.Mode.SawNoSlot(unit);
            LogGivenBack(reason.Message);
        }
        else
        {
            var counted = WithReason(failure);
            attempts.Add(message.NativeMessageId, counted);
            ExceptionDispatchInfo.Throw(counted);
        }
    }

    /// <summary>Whether a server says that it cannot work now, as on the bare endpoint.</summary>
    private async ValueTask<bool> IsRefusedAsync(Exception failure, CancellationToken cancellationToken) =>
        FailureKinds.OfPostgreSql.Of(failure) is FailureKind.Refused
        || (NpgsqlErrors.IsReadOnly(failure) && await ReadOnlyServer.IsSoAsync(transport.Data, [], cancellationToken));

    private static async Task PauseAsync(CancellationToken cancellationToken) =>
        await Task.Delay(Pause, cancellationToken).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);

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

    [LoggerMessage(Level = LogLevel.Warning, Message = "The connection that received a message was lost: {Reason}")]
    private partial void LogLost(string reason);

    [LoggerMessage(Level = LogLevel.Warning, Message = "A message went back to its queue without an attempt: {Reason}")]
    private partial void LogGivenBack(string reason);
}
