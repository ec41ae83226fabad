using Kit.Endpoints.Bare.Outbox;

namespace Kit.Endpoints.Bare.RabbitMq;

/// <summary>
/// <c>outbox</c>: the handler's own transaction commits first, with the message's id and its sends. Then the sends are published, and then the
/// receive is acknowledged. Once the handler has committed, the message can no longer fail: sends that the broker refuses are left to the
/// dispatcher, and the receive is acknowledged without them.
/// </summary>
internal sealed class OutboxReceiver(
    QueueSession queue, OutboxStore outbox, OutboxDispatcher dispatcher, MessagePipeline pipeline, Recoverability recoverability)
    : IReceiver
{
    public async Task<bool?> ReceiveAsync(CancellationToken cancellationToken)
    {
        if (await queue.ReceiveAsync() is not { } message)
            return false;

        bool isAnswered;
        try
        {
            // A handled message is not handled again, so its redelivery does not count as a failure.
            isAnswered = message.IsGivenUp || (message.IsRedelivered && !await outbox.Handlers.IsHandledAsync(message.MessageId, cancellationToken));
        }
        catch (ServerRefusedException refused)
        {
            return await recoverability.AnswerAsync(queue, message, refused);
        }

        if (isAnswered && await recoverability.AnswerUnhandledAsync(queue, message))
            return true;

        IReadOnlyList<OutboxRecord> sends;
        try
        {
            sends = await outbox.Handlers.HandleOnceAsync(pipeline, message, cancellationToken);
        }
        // A handler that committed has its message given up even if the host no longer waits: in the queue it would be handled again.
        catch (Exception failure) when (!cancellationToken.IsCancellationRequested || failure is TransactionEndedException)
        {
            return await recoverability.AnswerAsync(queue, message, failure);
        }

        var dispatched = await Task.WhenAll(sends.Select(send => TryDispatchAsync(message, send)));
        await outbox.ForgetAsync(message.MessageId, [.. sends.Where((_, index) => dispatched[index])]);
        await message.AcknowledgeAsync();
        return true;
    }

    public ValueTask DisposeAsync() => queue.DisposeAsync();

    private async Task<bool> TryDispatchAsync(Delivery message, OutboxRecord send)
    {
        try
        {
            await queue.SendAsync([send.Message]);
            return true;
        }
        catch (BrokerException refused)
        {
            dispatcher.TakeOver(message.MessageId, refused);
            return false;
        }
    }
}
