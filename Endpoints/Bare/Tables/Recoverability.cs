using System.Data.Common;
using Kit.Modes;
using Microsoft.Extensions.Logging;

namespace Kit.Endpoints.Bare.Tables;

/// <summary>
/// What follows a failed attempt: the message goes back to its place in the queue, its failure counted in its row, or, after the
/// mode's last attempt or when it cannot be read, to the error table.
/// </summary>
internal sealed partial class Recoverability(TransactionMode mode, ILogger log)
{
    /// <summary>Answers a failure within the transaction that received the message, and commits it.</summary>
    public async Task AnswerAsync(IQueueSession queue, DbTransaction receive, QueuedMessage message, Exception failure)
    {
        try
        {
            await RetryOrGiveUpAsync(queue, message, failure);
        }
        catch (Exception aborted) when (queue.HasLostTransaction(aborted))
        {
            // A send failed, and took the transaction of the receive with it.
            await receive.RollbackAsync();
            await AnswerAfterRollbackAsync(queue, message, failure);
            return;
        }

        await receive.CommitAsync();
    }

    /// <summary>
    /// Answers a failure whose receive was rolled back. Another worker may have ended the message meanwhile; or it may be at its next attempt
    /// already, before this one is counted, so that a message can be handled once more for each worker beside this one.
    /// </summary>
    public async Task AnswerAfterRollbackAsync(IQueueSession queue, QueuedMessage message, Exception failure)
    {
        await using var transaction = await queue.BeginAsync();
        if (await queue.TakeAsync(message) is { } taken)
            await RetryOrGiveUpAsync(queue, taken, failure);

        await transaction.CommitAsync();
    }

    /// <summary>Answers a failure of a message that is out of the queue already.</summary>
    public async Task GiveUpAsync(IQueueSession queue, QueuedMessage message, Exception failure)
    {
        var reason = Failure.ReasonOf(failure);
        var attempts = reason is UnreadableMessageException ? message.FailedAttempts : message.FailedAttempts + 1;
        await queue.MoveToErrorsAsync(message with { FailedAttempts = attempts }, reason);
        LogGivenUp(message.MessageId, attempts, reason.Message);
    }

    /// <summary>Says that a message is neither in the queue nor in the error table.</summary>
    public void ReportLost(QueuedMessage message, Exception failure, Exception because) =>
        LogLost(message.MessageId, Failure.ReasonOf(failure).Message, because.Message);

    private Task RetryOrGiveUpAsync(IQueueSession queue, QueuedMessage message, Exception failure)
    {
        var reason = Failure.ReasonOf(failure);
        var attempts = message.FailedAttempts + 1;
        if (reason is UnreadableMessageException || attempts >= mode.Attempts)
            return GiveUpAsync(queue, message, failure);

        LogRetried(message.MessageId, attempts, mode.Attempts, reason.Message);
        return queue.RequeueAsync(message with { FailedAttempts = attempts });
    }

    [LoggerMessage(Level = LogLevel.Information, Message = "Attempt {Attempt} of {Attempts} at message {MessageId} failed: {Reason}")]
    private partial void LogRetried(Guid messageId, int attempt, int attempts, string reason);

    [LoggerMessage(Level = LogLevel.Error, Message = "Message {MessageId} goes to the error table after {Attempts} attempts: {Reason}")]
    private partial void LogGivenUp(Guid messageId, int attempts, string reason);

    [LoggerMessage(Level = LogLevel.Critical, Message = "Message {MessageId} is lost: its handler failed ({Failure}), and it could not be moved to the error table: {Reason}")]
    private partial void LogLost(Guid messageId, string failure, string reason);
}
