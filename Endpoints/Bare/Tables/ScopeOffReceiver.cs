using System.Data.Common;

namespace Kit.Endpoints.Bare.Tables;

/// <summary><c>scope-off</c>: each statement of the handler autocommits; the receive commits afterwards, with the sends.</summary>
internal sealed class ScopeOffReceiver(IQueueSession queue, DbDataSource data, MessagePipeline pipeline, Recoverability recoverability) : IReceiver
{
    public async Task<bool?> ReceiveAsync(CancellationToken cancellationToken)
    {
        await using var receive = await queue.BeginAsync();
        if (await queue.ReceiveAsync() is not { } message)
            return false;

        try
        {
            var sends = await BufferedWork.RunAsync(pipeline, message, data, cancellationToken);
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
