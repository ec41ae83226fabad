using Kit.Endpoints.Bare.PostgreSql.Queues;
using Kit.Endpoints.Bare.Tables;

namespace Kit.Endpoints.Bare.PostgreSql.Batches;

/// <summary>
/// <c>transactions-off</c> in batches: the receive of all messages commits before the first handler runs. If the process dies, all that were not
/// handled are lost.
/// </summary>
internal sealed class TransactionsOffBatchReceiver(
    QueueSession queue, int size, PatientDataSource data, PuttingBack puttingBack, MessagePipeline pipeline, Recoverability recoverability) : IBatchReceiver
{
    public async Task<bool?> ReceiveAsync(CancellationToken cancellationToken)
    {
        var (messages, _) = await queue.ReceiveBatchAsync(size);
        var next = 0;
        try
        {
            // A handler's sends, and what is given up, need the session.
            while (next < messages.Count && queue.IsOpen && !cancellationToken.IsCancellationRequested)
                await HandleAsync(messages[next++], cancellationToken);
        }
        finally
        {
            await puttingBack.RunAsync(queue, [.. messages.Skip(next)], received: null, cancellationToken);
        }

        return messages.Count > 0;
    }

    private async Task HandleAsync(QueuedMessage message, CancellationToken cancellationToken)
    {
        try
        {
            await using var work = new ImmediateWork(data, new SendsInTurn(queue).SendAsync);
            await pipeline.HandleAsync(message, work, cancellationToken);
        }
        catch (Exception failure)
        {
            // Also when the host stops waiting, because only this process has the message.
            await recoverability.GiveUpOrLoseAsync(queue, message, failure);
        }
    }
}
