namespace Kit.Endpoints.Bare.Tables;

/// <summary><c>dtc-off</c>: the handler's scope commits first, then the receive with the sends.</summary>
internal sealed class DtcOffReceiver(IQueueSession queue, IHandlerScope handlers, MessagePipeline pipeline, Recoverability recoverability) : IReceiver
{
    public async Task<bool?> ReceiveAsync(CancellationToken cancellationToken)
    {
        await using var receive = await queue.BeginAsync();
        if (await queue.ReceiveAsync() is not { } message)
            return false;

        try
        {
            var sends = await handlers.RunAsync(pipeline, message, cancellationToken);
            await queue.SendAsync(sends);
        }
        catch (Exception failure) when (!cancellationToken.IsCancellationRequested)
        {
            await recoverability.AnswerAsync(queue, receive, message, failure);
            return true;
        }

        await recoverability.CommitAsync(queue, receive, message);
        return true;
    }

    public ValueTask DisposeAsync() => queue.DisposeAsync();
}
