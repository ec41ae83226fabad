using Kit.Endpoints.Bare.Tables;
using Kit.Endpoints.Bare.TwoPhase;

namespace Kit.Endpoints.Bare.PostgreSql;

/// <summary>
/// <c>full-dtc</c>: receive, insert and sends in one atomic unit, the kit's own two-phase commit. See <see cref="AtomicUnit"/>.
/// </summary>
internal sealed class FullDtcReceiver(
    QueueSession queue, OneServer server, MessagePipeline pipeline, Recoverability recoverability, QueueDatabase database, ISecondPhase secondPhase) : IReceiver
{
    public async Task<bool> ReceiveAsync(CancellationToken cancellationToken)
    {
        await using var receive = await queue.BeginAsync();
        if (await queue.ReceiveWithTransactionIdAsync() is not ({ } message, var transactionId))
            return false;

        await using var unit = new AtomicUnit(receive, new BranchId(database, transactionId), server.Data);
        var hasSent = false;
        try
        {
            using var transaction = AmbientTransaction.Create();
            unit.EnlistIn(transaction);
            using (var scope = AmbientTransaction.Enter(transaction))
            {
                await pipeline.HandleAsync(message, unit, cancellationToken);
                hasSent = unit.Sends.Count > 0;
                await queue.SendAsync(unit.Sends);
                scope.Complete();
            }

            await Task.Factory.FromAsync(transaction.BeginCommit, transaction.EndCommit, state: null);
        }
        catch (Exception) when (server.Refusal is not null)
        {
            // The handler's connection reached another server: the session ends, its receive is rolled back, no attempt is counted.
            throw server.Refusal;
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
                await receive.RollbackAsync(CancellationToken.None);
                await recoverability.AnswerAfterRollbackAsync(queue, message, failure);
            }

            return true;
        }

        if (unit.Prepared is { } branch)
            await secondPhase.FinishAsync(branch);

        return true;
    }

    public async ValueTask DisposeAsync()
    {
        await server.DisposeAsync();
        await queue.DisposeAsync();
    }
}
