using Kit.Endpoints.Bare.Outbox;
using Kit.Endpoints.Bare.Tables;

namespace Kit.Endpoints.Bare.PostgreSql;

/// <summary>
/// <c>outbox</c>: the handler's own transaction, with the message's id and what it sends, commits first; then that is dispatched, in the
/// transaction of the receive, which commits last.
/// </summary>
internal sealed class OutboxReceiver(QueueSession queue, OutboxStore outbox, MessagePipeline pipeline, Recoverability recoverability) : IReceiver
{
    public async Task<bool> ReceiveAsync(CancellationToken cancellationToken)
    {
        await using var receive = await queue.BeginAsync();
        if (await queue.ReceiveAsync() is not { } message)
            return false;

        IReadOnlyCollection<OutgoingMessage> sends;
        try
        {
            sends = await outbox.HandleOnceAsync(pipeline, message, cancellationToken);
            await queue.SendAsync(sends);
        }
        catch (Exception failure) when (!cancellationToken.IsCancellationRequested)
        {
            await recoverability.AnswerAsync(queue, receive, message, failure);
            return true;
        }

        await recoverability.CommitAsync(queue, receive, message);
        // Not before: a dispatch that is rolled back with the receive is found again by its record.
        await outbox.ForgetDispatchedAsync(message.MessageId, sends);
        return true;
    }

    public ValueTask DisposeAsync() => queue.DisposeAsync();
}
