namespace Kit.Endpoints.Bare.Tables;

/// <summary>
/// <c>transactions-off</c>: the receive commits before the handler runs; each of the handler's statements and sends autocommits.
/// </summary>
internal sealed class TransactionsOffReceiver(IQueueSession queue, PatientDataSource data, MessagePipeline pipeline, Recoverability recoverability) : IReceiver
{
    public async Task<bool?> ReceiveAsync(CancellationToken cancellationToken)
    {
        if (await queue.ReceiveAsync() is not { } message)
            return false;

        try
        {
            await using var work = new ImmediateWork(data, new SendsInTurn(queue).SendAsync);
            await pipeline.HandleAsync(message, work, cancellationToken);
        }
        catch (Exception failure)
        {
            // Also when the host stops waiting, because only this process has the message.
            await recoverability.GiveUpOrLoseAsync(queue, message, failure);
        }

        return true;
    }

    public ValueTask DisposeAsync() => queue.DisposeAsync();
}
