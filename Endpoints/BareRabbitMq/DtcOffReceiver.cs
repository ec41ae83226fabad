using Npgsql;

namespace Kit.Endpoints.Bare.RabbitMq;

/// <summary><c>dtc-off</c>: the handler's scope commits first, then the sends are published, then the receive is acknowledged.</summary>
internal sealed class DtcOffReceiver(QueueSession queue, NpgsqlDataSource data, MessagePipeline pipeline, Recoverability recoverability) : IReceiver
{
    public async Task<bool> ReceiveAsync(CancellationToken cancellationToken)
    {
        if (await queue.ReceiveAsync() is not { } message)
            return false;

        if (message.IsRedelivered)
            return await recoverability.SetAsideAsync(queue, message);

        try
        {
            IReadOnlyCollection<OutgoingMessage> sends;
            using (var scope = AmbientTransaction.Begin())
            {
                sends = await BufferedWork.RunAsync(pipeline, message, data, cancellationToken);
                scope.Complete();
            }

            await queue.SendAsync(sends);
        }
        catch (Exception failure) when (!cancellationToken.IsCancellationRequested)
        {
            await recoverability.AnswerAsync(queue, message, failure);
            return true;
        }

        await message.AcknowledgeAsync();
        return true;
    }

    public ValueTask DisposeAsync() => queue.DisposeAsync();
}
