using System.Data.Common;
using Kit.Endpoints.Bare.PostgreSql.Queues;
using Kit.Endpoints.Bare.Tables;

namespace Kit.Endpoints.Bare.PostgreSql.Batches;

/// <summary><c>scope-off</c> in batches: each statement of each handler autocommits; the receive commits afterwards, with all sends.</summary>
internal sealed class ScopeOffBatchReceiver(QueueSession queue, int size, DbDataSource data, MessagePipeline pipeline, Recoverability recoverability)
    : IBatchReceiver
{
    public async Task<bool?> ReceiveAsync(CancellationToken cancellationToken)
    {
        await using var receive = await queue.BeginAsync();
        var (messages, _) = await queue.ReceiveBatchAsync(size);
        if (messages.Count == 0)
            return false;

        var refusal = await new BatchOfAutocommits(queue, data, pipeline, recoverability).HandleAllAsync(messages, cancellationToken);
        await receive.CommitAsync(CancellationToken.None);
        return refusal is null ? true : throw refusal;
    }
}
