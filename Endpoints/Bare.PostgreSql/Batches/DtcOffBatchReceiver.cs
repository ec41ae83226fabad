using Kit.Endpoints.Bare.PostgreSql.Queues;
using Kit.Endpoints.Bare.Tables;
using Kit.Modes;
using Npgsql;

namespace Kit.Endpoints.Bare.PostgreSql.Batches;

/// <summary><c>dtc-off</c> in batches: one transaction for all handlers commits first, then the receive with the sends.</summary>
internal sealed class DtcOffBatchReceiver(
    QueueSession queue, int size, NpgsqlDataSource data, TransactionSettings settings, MessagePipeline pipeline, Recoverability recoverability) : IBatchReceiver
{
    /// <inheritdoc cref="LocalTransaction.CommitAsync" path="/param[@name='isFlushed']"/>
    public bool IsFlushed { get; init; }

    public async Task<bool?> ReceiveAsync(CancellationToken cancellationToken)
    {
        await using var receive = await queue.BeginAsync();
        var (messages, _) = await queue.ReceiveBatchAsync(size);
        if (messages.Count == 0)
            return false;

        await using var handlers = new LocalTransactionWork(data, settings.Isolation) { IsFlushed = IsFlushed };
        var refusal = await new BatchInOneTransaction(queue, handlers, settings, pipeline, recoverability).HandleAllAsync(messages, cancellationToken);
        await handlers.CommitAloneAsync();
        await receive.CommitAsync(CancellationToken.None);
        return refusal is null ? true : throw refusal;
    }
}
