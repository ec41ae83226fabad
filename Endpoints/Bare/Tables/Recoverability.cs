using System.Data.Common;
using System.Runtime.ExceptionServices;
using Kit.Modes;
using Microsoft.Extensions.Logging;

namespace Kit.Endpoints.Bare.Tables;

/// <summary>
/// What follows an attempt. After success the receive commits. After a failure the message goes back to its place in the queue, with the failure
/// counted in its row. After the mode's last attempt, or if no attempt can succeed, it goes to the error table. <see cref="RetryRule"/> decides. No message
/// blocks those behind it: one that meets a shortage of the server, whose id another session holds, or that the error table refuses, waits for longer than
/// the worker pauses.
/// </summary>
/// <param name="mode">Sets the number of attempts.</param>
/// <param name="firstDelay">The delay before the second attempt if the session was lost; doubled each time.</param>
/// <param name="kinds">Judges failures, by the drivers of queue and rows.</param>
/// <param name="delays">The delays after failures of the handler; none: the next attempt follows at once.</param>
/// <param name="log">Logs each failure.</param>
internal sealed partial class Recoverability(
    TransactionMode mode, TimeSpan firstDelay, FailureKinds kinds, IReadOnlyList<TimeSpan> delays, ILogger log)
{
    private readonly RetryRule rule = new(mode, firstDelay, kinds, delays);

    // Longer than a worker pauses at first, so that it gets to the messages behind.
    private readonly TimeSpan aside = BackOff.Longest(firstDelay);

    /// <summary>Commits the receive of a message that was handled.</summary>
    /// <exception cref="AttemptLostException">The session was lost, and only the server knows whether it committed.</exception>
    public async Task CommitAsync(IQueueSession queue, DbTransaction receive, QueuedMessage message)
    {
        try
        {
            // Without a token: a cancelled commit could have committed.
            await receive.CommitAsync(CancellationToken.None);
        }
        catch (Exception failure)
        {
            // Counted all the same: otherwise a receive that can never commit would be retried for ever.
            await AnswerAfterRollbackAsync(queue, message, failure);
        }
    }

    /// <summary>Answers a failure in the transaction that received the message, and commits it.</summary>
    /// <exception cref="ServerRefusedException">
    /// A server refused. No attempt is counted: the message is back in the queue, or the caller rolls the receive back. The worker pauses.
    /// </exception>
    /// <exception cref="AttemptLostException">The session was lost.</exception>
    public async Task AnswerAsync(IQueueSession queue, DbTransaction receive, QueuedMessage message, Exception failure)
    {
        RequireAnswer(failure);
        var isEnding = false;
        try
        {
            await RetryOrGiveUpAsync(queue, message, failure);
            isEnding = true;
            await receive.CommitAsync();
        }
        catch (Exception aborted) when (queue.HasLostTransaction(aborted))
        {
            // A send failed, and with it the transaction of the receive.
            await RollBackAndAnswerAsync(queue, receive, message, failure);
            return;
        }
        catch (Exception lost) when (!queue.IsOpen || kinds.Of(lost) is FailureKind.SessionLost)
        {
            throw new AttemptLostException(message, failure);
        }
        catch (DbException refused) when (IsRefusedByErrors(message, failure, refused))
        {
            // Constraint triggers of the error table can refuse at the commit, which has then ended the transaction.
            if (!isEnding)
                await receive.RollbackAsync();
            await PutAsideAsync(queue, message, failure, refused);
        }

        ThrowIfRefused(failure);
    }

    /// <summary>Rolls the receive back, and then answers a failure.</summary>
    /// <inheritdoc cref="AnswerAsync" path="/exception"/>
    public async Task RollBackAndAnswerAsync(IQueueSession queue, DbTransaction receive, QueuedMessage message, Exception failure)
    {
        RequireAnswer(failure);
        try
        {
            await receive.RollbackAsync();
        }
        catch (Exception lost) when (!queue.IsOpen || kinds.Of(lost) is FailureKind.SessionLost)
        {
            throw new AttemptLostException(message, failure);
        }

        await AnswerAfterRollbackAsync(queue, message, failure);
    }

    /// <summary>
    /// Answers a failure whose receive was rolled back. Meanwhile another worker may have finished the message, or may have started its next
    /// attempt before this one is counted. A message can therefore be handled once more for each other worker.
    /// </summary>
    /// <returns>Whether the message was in the queue.</returns>
    /// <inheritdoc cref="AnswerAsync" path="/exception"/>
    public async Task<bool> AnswerAfterRollbackAsync(IQueueSession queue, QueuedMessage message, Exception failure)
    {
        RequireAnswer(failure);
        var (counted, isThere) = (message, false);
        try
        {
            await using var transaction = await queue.BeginAsync();
            if (await queue.TakeAsync(message) is { } taken)
            {
                (counted, isThere) = (taken, true);
                await RetryOrGiveUpAsync(queue, taken, failure);
            }

            await transaction.CommitAsync();
        }
        // Another worker may hold the message for longer than a statement may wait.
        catch (Exception lost) when (!queue.IsOpen || kinds.Of(lost) is FailureKind.SessionLost || kinds.IsTimeout(lost))
        {
            throw new AttemptLostException(message, failure);
        }
        catch (DbException refused) when (IsRefusedByErrors(counted, failure, refused))
        {
            await PutAsideAsync(queue, counted, failure, refused);
        }

        ThrowIfRefused(failure);
        return isThere;
    }

    /// <summary>The same on a new session, because the attempt's session is already closed.</summary>
    /// <inheritdoc cref="AnswerAsync" path="/exception"/>
    public async Task AnswerOnNewSessionAsync(Func<Task<IQueueSession>> open, QueuedMessage message, Exception failure)
    {
        IQueueSession queue;
        try
        {
            queue = await open();
        }
        catch (DbException unreachable)
        {
            throw new AttemptLostException(message, failure, unreachable);
        }

        await using (queue)
            await AnswerAfterRollbackAsync(queue, message, failure);
    }

    /// <summary>Answers a failure of a message that has already left the queue, so that only this process has it.</summary>
    /// <exception cref="DbException">The message could not be moved to the error table. It is lost, and that is logged.</exception>
    /// <exception cref="ServerRefusedException">A server refused. The message is in the error table, because it must not be handled twice.</exception>
    public async Task GiveUpOrLoseAsync(IQueueSession queue, QueuedMessage message, Exception failure)
    {
        try
        {
            await GiveUpAsync(queue, message, failure);
        }
        catch (Exception lost)
        {
            LogLost(message.MessageId, Failure.ReasonOf(failure).Message, lost.Message);
            throw;
        }

        // The next message would meet the same: the worker pauses first.
        ThrowIfRefused(failure);
    }

    /// <summary>Whether a failure would use up the last of several attempts.</summary>
    /// <exception cref="ServerRefusedException">A server refused. No attempt is counted.</exception>
    public bool IsLastAttempt(QueuedMessage message, Exception failure)
    {
        ThrowIfRefused(failure);
        return kinds.Of(failure) is not FailureKind.Hopeless && rule.DelayAfter(message, failure) is null;
    }

    /// <summary>
    /// How long a message waits that goes back without an attempt: not at all if its server refused to begin. Otherwise its own handler met the server's
    /// shortage, and may have caused it, or another session holds its id. Then the message waits for longer than the worker pauses.
    /// </summary>
    public TimeSpan DelayAfterRefusal(Exception failure) =>
        Failure.ReasonOf(failure) is ServerRefusedException { IsOfOneMessage: false } ? TimeSpan.Zero : aside;

    /// <summary>Answers a failure in the transaction that received the message, which the caller commits.</summary>
    /// <exception cref="ServerRefusedException">A server refused. No attempt is counted.</exception>
    public Task AnswerInBatchAsync(IQueueSession queue, QueuedMessage message, Exception failure)
    {
        ThrowIfRefused(failure);
        return RetryOrGiveUpAsync(queue, message, failure);
    }

    /// <summary>Logs that a message has left the queue with a transaction that the endpoint has not committed.</summary>
    public void ReportEnded(QueuedMessage message, Exception failure) => LogEnded(message.MessageId, Failure.ReasonOf(failure).Message);

    /// <summary>Logs the loss of a message that was received and not handled, and could not be put back.</summary>
    public void ReportLost(QueuedMessage message, Exception reason) => LogNotPutBack(message.MessageId, reason.Message);

    /// <summary>Logs that messages could not be put back, and will be tried again.</summary>
    public void ReportNotYetPutBack(int messages, Exception reason) => LogNotYetPutBack(messages, reason.Message);

    /// <summary>Whoever was refused before doing anything has nothing to answer.</summary>
    private static void RequireAnswer(Exception failure)
    {
        if (Failure.ReasonOf(failure) is ServerRefusedException { IsOfOneMessage: false } refused)
            ExceptionDispatchInfo.Throw(refused);
    }

    private void ThrowIfRefused(Exception failure)
    {
        RequireAnswer(failure);
        if (kinds.Of(failure) is FailureKind.Refused)
            throw new ServerRefusedException(Failure.ReasonOf(failure));
    }

    /// <summary>Whether the failure gave the message up, and what failed then is the error table's own: a constraint, a trigger, a right.</summary>
    private bool IsRefusedByErrors(QueuedMessage message, Exception failure, DbException refused) =>
        kinds.Of(failure) is not FailureKind.Refused && rule.DelayAfter(message, failure) is null && kinds.Of(refused) is FailureKind.HandlerFailed;

    /// <summary>Puts back a message that the error table refuses, for later. Its receive was rolled back.</summary>
    private async Task PutAsideAsync(IQueueSession queue, QueuedMessage message, Exception failure, DbException refused)
    {
        await using var transaction = await queue.BeginAsync();
        if (await queue.TakeAsync(message) is { } taken)
            await queue.RequeueAsync(taken with { FailedAttempts = RetryRule.CountAfter(taken, failure) }, aside);

        await transaction.CommitAsync();
        LogNotMoved(message.MessageId, Failure.ReasonOf(failure).Message, refused.Message, aside.TotalSeconds);
    }

    private async Task RetryOrGiveUpAsync(IQueueSession queue, QueuedMessage message, Exception failure)
    {
        if (kinds.Of(failure) is FailureKind.Refused)
        {
            await queue.RequeueAsync(message, DelayAfterRefusal(failure));
            return;
        }

        if (rule.DelayAfter(message, failure) is not { } delay)
        {
            await GiveUpAsync(queue, message, failure);
            return;
        }

        var failed = message with { FailedAttempts = RetryRule.CountAfter(message, failure) };
        await queue.RequeueAsync(failed, delay);
        LogRetried(message.MessageId, failed.FailedAttempts, mode.Attempts, Failure.ReasonOf(failure).Message);
    }

    private async Task GiveUpAsync(IQueueSession queue, QueuedMessage message, Exception failure)
    {
        var reason = Failure.ReasonOf(failure);
        var failed = message with { FailedAttempts = RetryRule.CountAfter(message, failure) };
        await queue.MoveToErrorsAsync(failed, reason);
        LogGivenUp(message.MessageId, failed.FailedAttempts, reason.Message);
    }

    [LoggerMessage(Level = LogLevel.Information, Message = "Attempt {Attempt} of {Attempts} at message {MessageId} failed: {Reason}")]
    private partial void LogRetried(Guid messageId, int attempt, int attempts, string reason);

    [LoggerMessage(Level = LogLevel.Error, Message = "Message {MessageId} goes to the error table after {Attempts} attempts: {Reason}")]
    private partial void LogGivenUp(Guid messageId, int attempts, string reason);

    [LoggerMessage(Level = LogLevel.Error,
        Message = "Message {MessageId} failed ({Failure}) and could not be moved to the error table: {Reason} It is handled again in {Seconds} s. " +
            "Mend the error table: its rights, triggers and constraints.")]
    private partial void LogNotMoved(Guid messageId, string failure, string reason, double seconds);

    [LoggerMessage(Level = LogLevel.Critical,
        Message = "Message {MessageId} is lost: its handler failed ({Failure}), and it could not be moved to the error table: {Reason}")]
    private partial void LogLost(Guid messageId, string failure, string reason);

    [LoggerMessage(Level = LogLevel.Error,
        Message = "The transaction that received message {MessageId} has ended ({Reason}), and the message is not in the queue. If its handler " +
            "committed, the handler's rows stay, its sends are lost, and there is no dead letter: a handler must not commit. Otherwise another " +
            "worker has handled it.")]
    private partial void LogEnded(Guid messageId, string reason);

    [LoggerMessage(Level = LogLevel.Warning, Message = "{Messages} messages that were received and not handled could not be put back yet: {Reason}")]
    private partial void LogNotYetPutBack(int messages, string reason);

    [LoggerMessage(Level = LogLevel.Critical, Message = "Message {MessageId} is lost: it was not handled, and it could not be put back: {Reason}")]
    private partial void LogNotPutBack(Guid messageId, string reason);
}
