using Kit.Endpoints.Bare.PostgreSql.Queues;
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
    protected override bool SharesTransaction => true;

    protected override async Task<Exception?> TryAsync(QueuedMessage message, CancellationToken cancellationToken)
    {
        var work = new SavepointWork(whole);
        var hasSent = false;
        try
        {
            if (ambient is null)
            {
                await HandleAsync();
                await work.CommitAloneAsync();
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
        // Neighbours hold their locks until the batch commits, so the cause may be theirs: the caller rolls the whole batch back.
        catch (Exception failure) when (cancellationToken.IsCancellationRequested || !NpgsqlErrors.IsConflict(failure))
        {
            // In shared the handler's savepoint came first, on the same connection, so the sends are rolled back with it.
            var hasRolledBack = await work.RollBackAsync();
            if (hasSent && !(ambient is null && hasRolledBack))
                await Queue.RollSendsBackAsync();
            return failure;
        }

        async Task HandleAsync()
        {
            await pipeline.HandleAsync(message, work, cancellationToken);
            if (work.Sends.Count == 0)
                return;

            hasSent = true;
            await Queue.SendAfterSavepointAsync(work.Sends);
        }
    }
}
