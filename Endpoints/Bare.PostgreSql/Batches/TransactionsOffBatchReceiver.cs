using Kit.Endpoints.Bare.Tables;

namespace Kit.Endpoints.Bare.PostgreSql.Batches;

/// <summary>
/// <c>transactions-off</c> in batches: the receive of all messages commits before the first handler runs. If the process dies, all that were not
/// handled are lost.
/// </summary>
/// <param name="queue">The session that receives.</param>
/// <param name="size">How many messages a batch has at most.</param>
/// <param name="data">The handlers' database.</param>
/// <param name="open">Opens another session, to put messages back, even when the host no longer waits.</param>
/// <param name="pipeline">Calls the handlers.</param>
/// <param name="recoverability">Answers failures.</param>
internal sealed class TransactionsOffBatchReceiver(
    QueueSession queue, int size, PatientDataSource data, Func<Task<QueueSession>> open, MessagePipeline pipeline, Recoverability recoverability) : IReceiver
{
    public async Task<bool?> ReceiveAsync(CancellationToken cancellationToken)
    {
        var (messages, _) = await queue.ReceiveBatchAsync(size);
        for (var next = 0; next < messages.Count; next++)
        {
            if (cancellationToken.IsCancellationRequested || !queue.IsOpen)
            {
                await PutBackAsync([.. messages.Skip(next)]);
                break;
            }

            await HandleAsync(messages[next], [.. messages.Skip(next + 1)], cancellationToken);
        }

        return messages.Count > 0;
    }

    public ValueTask DisposeAsync() => ValueTask.CompletedTask;

    private async Task HandleAsync(QueuedMessage message, IReadOnlyList<QueuedMessage> notBegun, CancellationToken cancellationToken)
    {
        try
        {
            await using var work = new ImmediateWork(data, send => queue.SendAsync([send]));
            await pipeline.HandleAsync(message, work, cancellationToken);
        }
        catch (Exception failure)
        {
            try
            {
                await recoverability.GiveUpOrLoseAsync(queue, message, failure);
            }
            catch
            {
                await PutBackAsync(notBegun);
                throw;
            }
        }
    }

    /// <summary>Only this process has the messages that no handler has begun.</summary>
    private async Task PutBackAsync(IReadOnlyList<QueuedMessage> messages)
    {
        if (messages.Count == 0)
            return;

        try
        {
            await using var session = await open();
            await using var transaction = await session.BeginAsync();
            foreach (var message in messages)
                await session.RequeueAsync(message, TimeSpan.Zero);
            await transaction.CommitAsync(CancellationToken.None);
        }
        catch (Exception failure)
        {
            foreach (var message in messages)
                recoverability.Lost(message, failure);
            throw;
        }
    }
}
