using Kit.Modes;
using Microsoft.Extensions.Logging;

namespace Kit.Endpoints.Bare.RabbitMq;

/// <summary>
/// What follows a failed attempt. The message goes to the retry queue, with its failures counted in a header. After the mode's last attempt, or if
/// it cannot be read, it goes to the error queue. It is published there first and acknowledged afterwards: a crash between the two can double it,
/// but never loses it.
/// </summary>
/// <remarks>
/// If a message kills its process, no failure is recorded; only the broker's <c>redelivered</c> flag remains. In the endpoint's own queue that flag
/// says little, because every prefetched message has it. Such a message is moved to the retry queue, and no attempt is counted. Messages are taken
/// from the retry queue one at a time, so there the flag means that the handling was cut off, which counts as a failed attempt. A message that
/// always kills its process is given up after the mode's attempts and one more. Other messages are not given up with it, because a process never
/// retries two at the same time. A redelivered message that the broker does not take a second time is handled where it is, and its deaths are not
/// counted. The <c>x-delivery-count</c> of quorum queues also counts prefetched messages, and is not used. A message that the error queue refuses goes to the
/// end of the retry queue, so that it blocks no other.
/// </remarks>
internal sealed partial class Recoverability(TransactionMode mode, TimeSpan firstPause, IReadOnlyList<TimeSpan> delays, ILogger log)
{
    private readonly RetryRule rule = new(mode, firstPause, FailureKinds.OfPostgreSql, delays);

    /// <summary>Answers a failure according to its kind, and acknowledges the message.</summary>
    /// <returns><see langword="true"/>; <see langword="null"/> if the server refused, and no attempt was counted.</returns>
    public async Task<bool?> AnswerAsync(QueueSession queue, Delivery message, Exception failure)
    {
        if (FailureKinds.OfPostgreSql.Of(failure) is FailureKind.Refused)
        {
            LogRefused(message.MessageId, Failure.ReasonOf(failure).Message);
            await SettleAsync(message, () => RetryAsync(queue, message, failure, message.FailedAttempts, delay: TimeSpan.Zero));
            await queue.PauseAsync(firstPause);
            return null;
        }

        await SettleAsync(message, () => RetryOrGiveUpAsync(queue, message, failure));
        return true;
    }

    /// <summary>
    /// Answers a message that is not to be handled now, and acknowledges it: a redelivered one comes back as a retry, and one that is given up tries the
    /// error queue again.
    /// </summary>
    /// <returns>
    /// <see langword="false"/> if the message is to be handled all the same: it was only redelivered, and the broker does not take it a second time.
    /// </returns>
    public async Task<bool> AnswerUnhandledAsync(QueueSession queue, Delivery message)
    {
        if (!message.IsGivenUp && !message.IsRetry)
            return await TryComeBackAsync(queue, message);

        await SettleAsync(message, () => message.IsGivenUp
            ? MoveOrPutAsideAsync(queue, message, AmqpMessage.DeadLetterOf(message.Properties))
            : RetryOrGiveUpAsync(queue, message, CutOff()));
        return true;
    }

    /// <summary>Answers a failure of a message that has already left the queue, so that only this process has it.</summary>
    public async Task GiveUpOrLoseAsync(QueueSession queue, Delivery message, Exception failure)
    {
        try
        {
            await MoveToErrorsAsync(queue, message, DeadLetterBy(message, failure));
        }
        catch (Exception lost)
        {
            LogLost(message.MessageId, Failure.ReasonOf(failure).Message, lost.Message);
        }
    }

    private static DeadLetter DeadLetterBy(Delivery message, Exception failure) =>
        new(message.MessageId, RetryRule.CountAfter(message, failure), Failure.Describe(Failure.ReasonOf(failure)));

    private static InvalidOperationException CutOff() =>
        new("The handling was cut off: the process ended or the connection was lost while the message was being handled.");

    /// <summary>Acknowledges a message when it is in another queue.</summary>
    private async Task SettleAsync(Delivery message, Func<Task> move)
    {
        try
        {
            await move();
        }
        catch (BrokerException unmoved) when (unmoved.IsOfTheMessage || unmoved.IsRefusal)
        {
            // With the session it would come again, and be refused again, for ever.
            LogKept(message.MessageId, unmoved.Message);
            return;
        }

        await message.AcknowledgeAsync();
    }

    /// <summary>
    /// Moves a message that was only redelivered to the retry queue. It has not failed, so one that the broker does not take there is not given up.
    /// </summary>
    private async Task<bool> TryComeBackAsync(QueueSession queue, Delivery message)
    {
        try
        {
            await queue.MoveToRetriesAsync(message, message.FailedAttempts, delay: TimeSpan.Zero);
        }
        catch (BrokerException unfit) when (unfit.IsOfTheMessage)
        {
            LogNotTaken(message.MessageId, unfit.Message);
            return false;
        }
        catch (BrokerException full) when (full.IsRefusal)
        {
            LogKept(message.MessageId, full.Message);
            return true;
        }

        await message.AcknowledgeAsync();
        return true;
    }

    private async Task RetryOrGiveUpAsync(QueueSession queue, Delivery message, Exception failure)
    {
        if (rule.DelayAfter(message, failure) is not { } delay)
        {
            await GiveUpAsync(queue, message, failure);
            return;
        }

        var failedAttempts = RetryRule.CountAfter(message, failure);
        LogRetried(message.MessageId, failedAttempts, mode.Attempts, Failure.ReasonOf(failure).Message);
        await RetryAsync(queue, message, failure, failedAttempts, delay);
    }

    /// <summary>Moves a message to the retry queue. One that the broker does not take there is given up.</summary>
    private async Task RetryAsync(QueueSession queue, Delivery message, Exception failure, int failedAttempts, TimeSpan delay)
    {
        try
        {
            await queue.MoveToRetriesAsync(message, failedAttempts, delay);
        }
        catch (BrokerException unfit) when (unfit.IsOfTheMessage)
        {
            await GiveUpAsync(queue, message, new BrokerException(unfit.Message, Failure.ReasonOf(failure)));
        }
    }

    private Task GiveUpAsync(QueueSession queue, Delivery message, Exception failure) => MoveOrPutAsideAsync(queue, message, DeadLetterBy(message, failure));

    private async Task MoveOrPutAsideAsync(QueueSession queue, Delivery message, DeadLetter letter)
    {
        try
        {
            await MoveToErrorsAsync(queue, message, letter);
        }
        catch (BrokerException refused) when (refused.IsRefusal)
        {
            await queue.PutAsideAsync(message, letter);
            if (!message.IsGivenUp)
                LogNotMoved(message.MessageId, letter.Reason, refused.Message, RetryTurn.Interval.TotalSeconds);
        }
    }

    private async Task MoveToErrorsAsync(QueueSession queue, Delivery message, DeadLetter letter)
    {
        await queue.MoveToErrorsAsync(message, letter);
        LogGivenUp(message.MessageId, letter.FailedAttempts, letter.Reason);
    }

    [LoggerMessage(Level = LogLevel.Warning,
        Message = "The handlers' database refuses a connection: {Reason} Message {MessageId} goes back, and no attempt is counted.")]
    private partial void LogRefused(Guid messageId, string reason);

    [LoggerMessage(Level = LogLevel.Information, Message = "Attempt {Attempt} of {Attempts} at message {MessageId} failed: {Reason}")]
    private partial void LogRetried(Guid messageId, int attempt, int attempts, string reason);

    [LoggerMessage(Level = LogLevel.Error, Message = "Message {MessageId} moved to the error queue after {Attempts} attempts: {Reason}")]
    private partial void LogGivenUp(Guid messageId, int? attempts, string reason);

    [LoggerMessage(Level = LogLevel.Error,
        Message = "Message {MessageId} failed ({Failure}) and could not be moved to the error queue: {Reason} It waits in the retry queue, is not handled " +
            "again, and is tried every {Seconds} s. Make room in the error queue.")]
    private partial void LogNotMoved(Guid messageId, string failure, string reason, double seconds);

    [LoggerMessage(Level = LogLevel.Error,
        Message = "Message {MessageId} failed and cannot be moved to another queue, so it stays in its queue, and takes one place of the prefetch until the " +
                  "endpoint connects again: {Reason} If it is too large, raise the broker's max_message_size, or remove it. If the retry queue is full, " +
                  "make room.")]
    private partial void LogKept(Guid messageId, string reason);

    [LoggerMessage(Level = LogLevel.Warning,
        Message = "Message {MessageId} was redelivered, and cannot be moved to the retry queue: {Reason} It is handled where it is. If it has ended its " +
                  "process, it does so again: remove it.")]
    private partial void LogNotTaken(Guid messageId, string reason);

    [LoggerMessage(Level = LogLevel.Error,
        Message = "Message {MessageId} is lost: its handler failed ({Reason}), and it could not be moved to the error queue: {Refusal}")]
    private partial void LogLost(Guid messageId, string reason, string refusal);
}
