using System.Data.Common;
using Kit.Endpoints.Bare.PostgreSql.Queues;
using Kit.Endpoints.Bare.Tables;

namespace Kit.Endpoints.Bare.PostgreSql.Batches;

/// <summary>A batch whose handlers autocommit each statement, each handler on a connection of its own.</summary>
/// <inheritdoc cref="BatchInOneTransaction(QueueSession, IWork, Kit.Modes.TransactionSettings, MessagePipeline, Recoverability)" path="/param"/>
internal sealed class BatchOfAutocommits(QueueSession queue, DbDataSource data, MessagePipeline pipeline, Recoverability recoverability)
    : Batch(queue, recoverability)
{
    protected override bool SharesTransaction => false;

    protected override async Task<Exception?> TryAsync(QueuedMessage message, CancellationToken cancellationToken)
    {
        IReadOnlyCollection<OutgoingMessage> sends;
        try
        {
            sends = await BufferedWork.RunAsync(pipeline, message, data, cancellationToken);
            if (sends.Count == 0)
                return null;
        }
        catch (Exception failure)
        {
            return failure;
        }

        try
        {
            await Queue.SendAfterSavepointAsync(sends);
            return null;
        }
        catch (Exception failure)
        {
            await Queue.RollSendsBackAsync();
            return failure;
        }
    }
}
