using Kit.Endpoints.Bare.Tables;
using Kit.Modes;

namespace Kit.Endpoints.Bare.PostgreSql.Batches;

/// <summary>A batch whose handlers work in one transaction, each after a savepoint of its own.</summary>
/// <param name="queue">The session that received the batch.</param>
/// <param name="whole">The handlers' transaction.</param>
/// <param name="ambient">The settings of the ambient transaction around each handler; <see langword="null"/> if the mode has none.</param>
/// <param name="pipeline">Calls the handlers.</param>
/// <param name="recoverability">Answers failures.</param>
internal sealed class BatchInOneTransaction(
    QueueSession queue, IWork whole, TransactionSettings? ambient, MessagePipeline pipeline, Recoverability recoverability)
    : Batch(queue, recoverability)
{
    private const string BeforeSends = "kit_before_sends";

    protected override async Task<Exception?> TryAsync(QueuedMessage message, CancellationToken cancellationToken)
    {
        var work = new SavepointWork(whole);
        var hasSent = false;
        try
        {
            if (ambient is null)
            {
                await HandleAsync();
                await work.EndAsync();
            }
            else
            {
                using var transaction = AmbientTransaction.Create(ambient);
                work.EnlistIn(transaction);
                using (var scope = AmbientTransaction.Enter(transaction))
                {
                    await HandleAsync();
                    scope.Complete();
                }

                await transaction.CommitAsync();
            }

            return null;
        }
        // The locks of neighbours are held until the batch commits, so a conflict is not this message's own.
        catch (Exception failure) when (!FailureKinds.IsConflict(failure))
        {
            if (hasSent)
                await Queue.TakeBackAsync(BeforeSends);
            await work.TakeBackAsync();
            return failure;
        }

        async Task HandleAsync()
        {
            await pipeline.HandleAsync(message, work, cancellationToken);
            if (work.Sends.Count == 0)
                return;

            hasSent = true;
            await Queue.SendAfterSavepointAsync(work.Sends, BeforeSends);
        }
    }
}
