using Kit.Endpoints.Bare.PostgreSql.Queues;
using Kit.Endpoints.Bare.PostgreSql.TwoPhase;
using Kit.Endpoints.Bare.Tables;

namespace Kit.Endpoints.Bare.PostgreSql.Batches;

/// <summary><c>full-dtc</c> in batches: all receives, inserts and sends in one atomic unit, with one branch for all handlers.</summary>
internal sealed class FullDtcBatchReceiver(
    QueueSession queue, int size, IDecider decider, FullDtc mode, MessagePipeline pipeline, Recoverability recoverability) : IBatchReceiver
{
    public async Task<bool?> ReceiveAsync(CancellationToken cancellationToken)
    {
        if (await mode.TryTakeSlotsAsync() is not { } slots)
            return null;

        using (slots)
        {
            await using var receive = await queue.BeginAsync();
            var (messages, transactionId) = await queue.ReceiveBatchAsync(size);
            if (messages.Count == 0)
                return false;

            Exception? refusal = null;
            await mode.RunAsync(
                slots, decider.Of(receive, transactionId), decider.Data, async unit => refusal = await HandleAsync(messages, unit, cancellationToken));
            return refusal is null ? true : throw refusal;
        }
    }

    private async Task<Exception?> HandleAsync(IReadOnlyList<QueuedMessage> messages, AtomicUnit unit, CancellationToken cancellationToken)
    {
        try
        {
            var refusal = await new BatchInOneTransaction(queue, unit, mode.Settings, pipeline, recoverability).HandleAllAsync(messages, cancellationToken);
            await unit.CommitAloneAsync();
            return refusal;
        }
        catch (Exception) when (decider.Refusal is not null)
        {
            // The handlers' connection reached another server: the session ends, its receive is rolled back, and no attempt is counted.
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
    }
}
