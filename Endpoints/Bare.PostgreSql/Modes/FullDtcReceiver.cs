using Kit.Endpoints.Bare.PostgreSql.Queues;
using Kit.Endpoints.Bare.PostgreSql.TwoPhase;
using Kit.Endpoints.Bare.Tables;
using Npgsql;

namespace Kit.Endpoints.Bare.PostgreSql.Modes;

/// <summary>
/// <c>full-dtc</c>: receive, insert and sends in one atomic unit, the kit's own two-phase commit. See <see cref="AtomicUnit"/>.
/// </summary>
internal sealed class FullDtcReceiver(QueueSession queue, IDecider decider, FullDtc mode, MessagePipeline pipeline, Recoverability recoverability) : IReceiver
{
    public async Task<bool?> ReceiveAsync(CancellationToken cancellationToken)
    {
        if (await mode.TryTakeSlotsAsync() is not { } slots)
            return null;

        using (slots)
        {
            await using var receive = await queue.BeginAsync();
            if (await queue.ReceiveWithTransactionIdAsync() is not ({ } message, var transactionId))
                return false;

            await mode.RunAsync(slots, decider.Of(receive, transactionId), decider.Data, unit => HandleAsync(message, receive, unit, cancellationToken));
            return true;
        }
    }

    public async ValueTask DisposeAsync()
    {
        await decider.DisposeAsync();
        await queue.DisposeAsync();
    }

    private async Task HandleAsync(QueuedMessage message, NpgsqlTransaction receive, AtomicUnit unit, CancellationToken cancellationToken)
    {
        var hasSent = false;
        try
        {
            using var transaction = AmbientTransaction.Create(mode.Settings);
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
        catch (Exception) when (decider.Refusal is not null)
        {
            // The handler's connection reached another server: the session ends, its receive is rolled back, and no attempt is counted.
            throw decider.Refusal;
        }
        catch (Exception fenced) when (Failure.ReasonOf(fenced) is FencedException)
        {
            // The receive is rolled back, and no attempt is counted: the next session has a row of its own.
            throw Failure.ReasonOf(fenced);
        }
        catch (Exception refused) when (Failure.ReasonOf(refused) is ServerRefusedException && unit.Refusal is null)
        {
            mode.SawNoSlot(unit);
            throw Failure.ReasonOf(refused);
        }
        catch (Exception failure) when (!cancellationToken.IsCancellationRequested)
        {
            await unit.DisposeAsync();
            // If the sends are already written, committing the answer would also commit the sends of the failed attempt.
            if (unit.HasTriedToDecide)
                await recoverability.AnswerAfterRollbackAsync(queue, message, failure);
            else if (unit.IsUndecided && !hasSent)
                await recoverability.AnswerAsync(queue, receive, message, failure);
            else
                await recoverability.RollBackAndAnswerAsync(queue, receive, message, failure);
        }
    }
}
