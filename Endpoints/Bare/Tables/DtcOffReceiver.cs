using System.Data.Common;

namespace Kit.Endpoints.Bare.Tables;

/// <summary><c>dtc-off</c>: the handler's scope commits first, the receive with the sends after it.</summary>
internal sealed class DtcOffReceiver(IQueueSession queue, DbDataSource data, MessagePipeline pipeline, Recoverability recoverability) : IReceiver
{
    public async Task<bool> ReceiveAsync(CancellationToken cancellationToken)
    {
        await using var receive = await queue.BeginAsync();
        if (await queue.ReceiveAsync() is not { } message)
            return false;

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
            await recoverability.AnswerAsync(queue, receive, message, failure);
            return true;
        }

        await receive.CommitAsync(CancellationToken.None);
        return true;
    }

    public ValueTask DisposeAsync() => queue.DisposeAsync();
}
