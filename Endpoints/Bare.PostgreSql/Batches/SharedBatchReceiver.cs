using Kit.Endpoints.Bare.Tables;
using Npgsql;

namespace Kit.Endpoints.Bare.PostgreSql.Batches;

/// <summary><c>shared</c> in batches: all receives, inserts and sends in one local transaction, with a savepoint before each handler.</summary>
internal sealed class SharedBatchReceiver(QueueSession queue, int size, MessagePipeline pipeline, Recoverability recoverability) : IReceiver
{
    public async Task<bool?> ReceiveAsync(CancellationToken cancellationToken)
    {
        var receive = await queue.BeginAsync();
        var (messages, transactionId) = await queue.ReceiveBatchAsync(size);
        if (messages.Count == 0)
        {
            await receive.RollbackAsync(CancellationToken.None);
            return false;
        }

        var batch = new BatchInOneTransaction(queue, new LentWork(queue.Connection, receive), ambient: null, pipeline, recoverability);
        Exception? refusal;
        try
        {
            refusal = await batch.HandleAllAsync(messages, cancellationToken);
            await receive.CommitAsync(CancellationToken.None);
        }
        catch when (queue.IsOpen)
        {
            await EndAsync(transactionId, batch.NotBegun);
            throw;
        }

        return refusal is null || cancellationToken.IsCancellationRequested ? true : throw refusal;
    }

    public ValueTask DisposeAsync() => ValueTask.CompletedTask;

    /// <summary>
    /// Rolls the batch back. If a handler has committed the transaction, the messages that no handler had begun have left the queue: they are put back.
    /// </summary>
    private async Task EndAsync(ulong transactionId, IReadOnlyList<QueuedMessage> notBegun)
    {
        await queue.RollBackAsync();
        if (notBegun.Count == 0 || !await queue.HasCommittedAsync(transactionId))
            return;

        await using var transaction = await queue.BeginAsync();
        foreach (var message in notBegun)
            await queue.RequeueAsync(message, TimeSpan.Zero);
        await transaction.CommitAsync(CancellationToken.None);
    }
}
