using Kit.Modes;
using Microsoft.Extensions.Logging;
using Npgsql;

namespace Kit.Endpoints.Bare.PostgreSql;

/// <summary>
/// What follows a failed attempt: the message goes back to its place in the queue, its failure counted in its row, or, after the
/// mode's last attempt or when it cannot be read, to the error table.
/// </summary>
internal sealed partial class Recoverability(TransactionMode mode, ILogger log)
{
    /// <summary>Answers a failure within the transaction that received the message, and commits it.</summary>
    public async Task AnswerAsync(QueueSession queue, NpgsqlTransaction receive, QueuedMessage message, Exception failure)
    {
        try
        {
            await RetryOrGiveUpAsync(queue, message, failure);
        }
        catch (PostgresException aborted) when (aborted.SqlState == PostgresErrorCodes.InFailedSqlTransaction)
        {
            // A send failed, and took the transaction of the receive with it.
            await receive.RollbackAsync();
            await AnswerAfterRollbackAsync(queue, message, failure);
            return;
        }

        await receive.CommitAsync();
    }

    /// <summary>Answers a failure whose receive was rolled back. Another worker may have ended the message meanwhile.</summary>
    public async Task AnswerAfterRollbackAsync(QueueSession queue, QueuedMessage message, Exception failure)
    {
        await using var transaction = await queue.BeginAsync();
        if (await queue.TakeAsync(message) is { } taken)
            await RetryOrGiveUpAsync(queue, taken, failure);

        await transaction.CommitAsync();
    }

    /// <summary>Answers a failure of a message that is out of the queue already.</summary>
    public Task GiveUpAsync(QueueSession queue, QueuedMessage message, Exception failure)
    {
        var reason = Failure.ReasonOf(failure);
        var attempts = reason is UnreadableMessageException ? message.FailedAttempts : message.FailedAttempts + 1;
        LogGivenUp(message.MessageId, attempts, reason.Message);
        return queue.MoveToErrorsAsync(message with { FailedAttempts = attempts }, reason);
    }

    private Task RetryOrGiveUpAsync(QueueSession queue, QueuedMessage message, Exception failure)
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

    [LoggerMessage(Level = LogLevel.Error, Message = "Message {MessageId} moved to the error table after {Attempts} attempts: {Reason}")]
    private partial void LogGivenUp(Guid messageId, int attempts, string reason);
}
