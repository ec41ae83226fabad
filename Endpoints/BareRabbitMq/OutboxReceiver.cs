using Kit.Endpoints.Bare.Outbox;

namespace Kit.Endpoints.Bare.RabbitMq;

/// <summary>
/// <c>outbox</c>: the handler's own transaction, with the message's id and what it sends, commits first; then that is published, then the
/// receive is acknowledged.
/// </summary>
internal sealed class OutboxReceiver(QueueSession queue, OutboxStore outbox, MessagePipeline pipeline, Recoverability recoverability) : IReceiver
{
    public async Task<bool> ReceiveAsync(CancellationToken cancellationToken)
    {
        if (await queue.ReceiveAsync() is not { } message)
            return false;

        if (message.IsRedelivered)
            return await recoverability.SetAsideAsync(queue, message);

        try
        {
            var sends = await outbox.HandleOnceAsync(pipeline, message, cancellationToken);
            await queue.SendAsync(sends);
            await outbox.ForgetDispatchedAsync(message.MessageId, sends);
        }
        catch (Exception failure) when (!cancellationToken.IsCancellationRequested)
        {
            await recoverability.AnswerAsync(queue, message, failure);
            return true;
        }

        await message.AcknowledgeAsync();
        return true;
    }

    public ValueTask DisposeAsync() => queue.DisposeAsync();
}
