using Kit.Endpoints.Bare.PostgreSql.Queues;
using Kit.Endpoints.Bare.Tables;
using Npgsql;

namespace Kit.Endpoints.Bare.PostgreSql.Batches;

/// <summary><c>shared</c> in batches: all receives, inserts and sends in one local transaction, with a savepoint before each handler.</summary>
internal sealed class SharedBatchReceiver(
    QueueSession queue, int size, PuttingBack puttingBack, MessagePipeline pipeline, Recoverability recoverability) : IBatchReceiver
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
            await queue.CommitAsync();
        }
        catch
        {
            await RollBackAsync();
            // If a handler has committed the transaction, the messages that no handler had begun have left the queue.
            await puttingBack.RunAsync(queue, batch.NotBegun, queue.ReceiveOf(transactionId), cancellationToken);
            await queue.EndLendingAsync();
            throw;
        }

        await queue.EndLendingAsync();
        return refusal is null ? true : throw refusal;
    }

    /// <summary>Rolls the batch back. If that is impossible, because a handler left a reader open, ends the session.</summary>
    private async Task RollBackAsync()
    {
        try
        {
            await queue.RollBackAsync();
        }
        catch (Exception failure) when (failure is NpgsqlException or InvalidOperationException)
        {
            await queue.Connection.CloseAsync();
        }
    }
}
