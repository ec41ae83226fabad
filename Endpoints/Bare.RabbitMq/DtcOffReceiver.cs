namespace Kit.Endpoints.Bare.RabbitMq;

/// <summary><c>dtc-off</c>: the handler's scope commits first, then the sends are published, then the receive is acknowledged.</summary>
internal sealed class DtcOffReceiver(QueueSession queue, IHandlerScope handlers, MessagePipeline pipeline, Recoverability recoverability) : IReceiver
{
    public async Task<bool?> ReceiveAsync(CancellationToken cancellationToken)
    {
        if (await queue.ReceiveAsync() is not { } message)
            return false;

        if ((message.IsRedelivered || message.IsGivenUp) && await recoverability.AnswerUnhandledAsync(queue, message))
            return true;

        try
        {
            var sends = await handlers.RunAsync(pipeline, message, cancellationToken);
            await queue.SendAsync(sends);
        }
        catch (Exception failure) when (!cancellationToken.IsCancellationRequested)
        {
            return await recoverability.AnswerAsync(queue, message, failure);
        }

        await message.AcknowledgeAsync();
        return true;
    }

    public ValueTask DisposeAsync() => queue.DisposeAsync();
}
