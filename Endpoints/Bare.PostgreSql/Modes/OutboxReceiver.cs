using Kit.Endpoints.Bare.Outbox;
using Kit.Endpoints.Bare.PostgreSql.Queues;
using Kit.Endpoints.Bare.Tables;

namespace Kit.Endpoints.Bare.PostgreSql.Modes;

/// <summary>
/// <c>outbox</c>: the handler's own transaction commits first, with the message's id and its sends. Then the sends are dispatched in the
/// transaction of the receive, which commits last. Once the handler has committed, the message can no longer fail: sends that cannot be
/// dispatched are left to the dispatcher, and the receive commits without them.
/// </summary>
internal sealed class OutboxReceiver(
    QueueSession queue, OutboxStore outbox, IdempotentScope handlers, OutboxDispatcher dispatcher, UnansweredReceives unanswered, MessagePipeline pipeline,
    Recoverability recoverability) : IReceiver
{
    public async Task<bool?> ReceiveAsync(CancellationToken cancellationToken)
    {
        await using var receive = await queue.BeginAsync();
        if (await queue.ReceiveWithTransactionIdAsync() is not ({ } message, var transactionId))
            return false;

        IReadOnlyList<OutboxRecord> sends;
        try
        {
            sends = await handlers.HandleOnceAsync(pipeline, message, cancellationToken);
        }
        // A handler that committed has its message given up even if the host no longer waits: in the queue it would be handled again.
        catch (Exception failure) when (!cancellationToken.IsCancellationRequested || failure is TransactionEndedException)
        {
            await recoverability.AnswerAsync(queue, receive, message, failure);
            return true;
        }

        using var standbys = StandbyWait.On(queue.Connection);
        try
        {
            await queue.SendToStandbysAsync([.. sends.Select(send => send.Message)]);
        }
        catch (Exception failure) when (queue.IsOpen)
        {
            await receive.RollbackAsync(CancellationToken.None);
            await EndAsync(message);
            dispatcher.TakeOver(message.MessageId, failure);
            return true;
        }

        try
        {
            await receive.CommitAsync(CancellationToken.None);
            // The records can be on another server: without them a failover of this one would lose the sends.
            await standbys.RepeatAsync(cancellationToken);
        }
        catch when (sends.Count > 0)
        {
            unanswered.Add(queue.ReceiveOf(transactionId), message.MessageId, sends);
            throw;
        }

        // Only after the commit: if the dispatch is rolled back with the receive, the dispatcher finds its record.
        await outbox.ForgetAsync(message.MessageId, sends);
        return true;
    }

    public ValueTask DisposeAsync() => queue.DisposeAsync();

    /// <summary>Removes the message from the queue after its receive was rolled back together with its sends.</summary>
    private async Task EndAsync(QueuedMessage message)
    {
        await using var receive = await queue.BeginAsync();
        await queue.TakeAsync(message);
        await receive.CommitAsync(CancellationToken.None);
    }
}
