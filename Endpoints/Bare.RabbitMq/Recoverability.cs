using Kit.Modes;
using Microsoft.Extensions.Logging;

namespace Kit.Endpoints.Bare.RabbitMq;

/// <summary>
/// What follows a failed attempt: the message goes to the queue of those that are tried again, its failures counted in a header, or,
/// after the mode's last attempt or when it cannot be read, to the error queue. A message is published there first and acknowledged
/// here afterwards: a crash between the two doubles it, and never loses it.
/// </summary>
/// <remarks>
/// A message that ends its process leaves no failure behind, only the broker's <c>redelivered</c> flag. From the endpoint's own queue
/// that flag says little, for all that was prefetched carries it; such a message is moved to the queue of retries, uncounted.
/// From there messages are taken one at a time, so that the flag there means that its handling was cut off: that counts as a failed
/// attempt. A message that always ends its process is given up after the mode's attempts and one more, and takes no other with it, because
/// no two are tried again at the same time in one process. Quorum queues' <c>x-delivery-count</c> counts prefetched messages too, and is not used.
/// </remarks>
internal sealed partial class Recoverability(TransactionMode mode, TimeSpan firstPause, ILogger log)
{
    private readonly RetryRule rule = new(mode, firstPause);

    /// <summary>Answers a failure as its kind demands, and acknowledges the message.</summary>
    /// <returns><see langword="true"/>; <see langword="null"/> where the server refused, and no attempt was counted.</returns>
    public async Task<bool?> AnswerAsync(QueueSession queue, Delivery message, Exception failure)
    {
        if (FailureKinds.Of(failure) is FailureKind.Refused)
        {
            LogRefused(message.MessageId, Failure.ReasonOf(failure).Message);
            await queue.MoveToRetriesAsync(message, message.FailedAttempts, delay: TimeSpan.Zero);
            await message.AcknowledgeAsync();
            await queue.PauseAsync(firstPause);
            return null;
        }

        await RetryOrGiveUpAsync(queue, message, failure);
        await message.AcknowledgeAsync();
        return true;
    }

    /// <summary>Answers a message that the broker delivers again, and acknowledges it. It comes again as a retry.</summary>
    /// <returns><see langword="true"/>: there was a message.</returns>
    public async Task<bool> AnswerRedeliveryAsync(QueueSession queue, Delivery message)
    {
        if (message.IsRetry)
            await RetryOrGiveUpAsync(queue, message, CutOff());
        else
            await queue.MoveToRetriesAsync(message, message.FailedAttempts, delay: TimeSpan.Zero);

        await message.AcknowledgeAsync();
        return true;
    }

    /// <summary>Answers a failure of a message that is out of the queue already, and that only this process has.</summary>
    public async Task GiveUpOrLoseAsync(QueueSession queue, Delivery message, Exception failure)
    {
        try
        {
            await GiveUpAsync(queue, message, failure);
        }
        catch (Exception lost)
        {
            LogLost(message.MessageId, Failure.ReasonOf(failure).Message, lost.Message);
        }
    }

    private static InvalidOperationException CutOff() =>
        new("Its handling was cut off: the process ended or the connection was lost while it was being handled.");

    private async Task RetryOrGiveUpAsync(QueueSession queue, Delivery message, Exception failure)
    {
        if (rule.DelayAfter(message, failure) is not { } delay)
        {
            await GiveUpAsync(queue, message, failure);
            return;
        }

        var failedAttempts = RetryRule.CountAfter(message, failure);
        LogRetried(message.MessageId, failedAttempts, mode.Attempts, Failure.ReasonOf(failure).Message);
        await queue.MoveToRetriesAsync(message, failedAttempts, delay);
    }

    private Task GiveUpAsync(QueueSession queue, Delivery message, Exception failure)
    {
        var reason = Failure.ReasonOf(failure);
        var failedAttempts = RetryRule.CountAfter(message, failure);
        LogGivenUp(message.MessageId, failedAttempts, reason.Message);
        return queue.MoveToErrorsAsync(message, failedAttempts, Failure.Describe(reason));
    }

    [LoggerMessage(Level = LogLevel.Warning,
        Message = "The handlers' database refuses a connection: {Reason} Message {MessageId} goes back, no attempt is counted.")]
    private partial void LogRefused(Guid messageId, string reason);

    [LoggerMessage(Level = LogLevel.Information, Message = "Attempt {Attempt} of {Attempts} at message {MessageId} failed: {Reason}")]
    private partial void LogRetried(Guid messageId, int attempt, int attempts, string reason);

    [LoggerMessage(Level = LogLevel.Error, Message = "Message {MessageId} moved to the error queue after {Attempts} attempts: {Reason}")]
    private partial void LogGivenUp(Guid messageId, int attempts, string reason);

    [LoggerMessage(Level = LogLevel.Error, Message = "Message {MessageId} is lost. It failed: {Reason} And the error queue did not take it: {Refusal}")]
    private partial void LogLost(Guid messageId, string reason, string refusal);
}
