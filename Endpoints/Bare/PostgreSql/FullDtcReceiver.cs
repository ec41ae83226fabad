using Kit.Endpoints.Bare.Tables;
using Kit.Endpoints.Bare.TwoPhase;
using Npgsql;

namespace Kit.Endpoints.Bare.PostgreSql;

/// <summary>
/// <c>full-dtc</c>: receive, insert and sends in one atomic unit, the kit's own two-phase commit. See <see cref="AtomicUnit"/>.
/// </summary>
internal sealed class FullDtcReceiver(
    QueueSession queue, NpgsqlDataSource data, MessagePipeline pipeline, Recoverability recoverability, QueueDatabase database, ISecondPhase secondPhase,
    TimeSpan timeout) : IReceiver
{
    public async Task<bool> ReceiveAsync(CancellationToken cancellationToken)
    {
        await using var receive = await queue.BeginAsync();
        if (await queue.ReceiveWithTransactionIdAsync() is not ({ } message, var transactionId))
            return false;

        await using var unit = new AtomicUnit(receive, new BranchId(database, transactionId), data);
        var hasSent = false;
        try
        {
            using var transaction = AmbientTransaction.Create(timeout);
            unit.EnlistIn(transaction);
            using (var scope = AmbientTransaction.Enter(transaction))
            {
                await pipeline.HandleAsync(message, unit, cancellationToken);
                hasSent = unit.Sends.Count > 0;
                await queue.SendAsync(unit.Sends);
                scope.Complete();
            }

            await transaction.CommitAsync();
        }
        catch (Exception failure) when (!cancellationToken.IsCancellationRequested)
        {
            await unit.DisposeAsync();
            // What commits the answer would commit the sends of the failed attempt with it, once they are written.
            if (unit.IsUndecided && !hasSent)
            {
                await recoverability.AnswerAsync(queue, receive, message, failure);
            }
            else
            {
                await recoverability.RollBackAndAnswerAsync(queue, receive, message, failure);
            }

            return true;
        }

        if (unit.Prepared is { } branch)
            await secondPhase.FinishAsync(branch);

        return true;
    }

    public ValueTask DisposeAsync() => queue.DisposeAsync();
}
