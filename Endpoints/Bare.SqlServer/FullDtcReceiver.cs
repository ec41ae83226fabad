using System.Data.Common;
using Kit.Endpoints.Bare.Tables;
using Kit.Modes;

namespace Kit.Endpoints.Bare.SqlServer;

/// <summary>
/// <c>full-dtc</c>: receive, insert and sends in one TransactionScope. Each connection is closed before the next is opened. With one connection
/// string, the pool returns the same session, and its local transaction suffices. With two, the second connection promotes the transaction to
/// MSDTC.
/// </summary>
internal sealed class FullDtcReceiver(
    Func<Task<QueueSession>> open, DbDataSource data, TransactionSettings settings,
    MessagePipeline pipeline, Recoverability recoverability) : IReceiver
{
    public async Task<bool?> ReceiveAsync(CancellationToken cancellationToken)
    {
        QueuedMessage? message = null;
        try
        {
            using var scope = AmbientTransaction.Begin(settings);
            await using (var queue = await open())
                message = await queue.ReceiveAsync();
            if (message is null)
                return false;

            var sends = await BufferedWork.RunAsync(pipeline, message, data, cancellationToken);
            if (sends.Count > 0)
            {
                await using var queue = await open();
                await queue.SendEnlistedAsync(sends);
            }

            scope.Complete();
        }
        catch (Exception failure) when (message is not null && !cancellationToken.IsCancellationRequested)
        {
            await recoverability.AnswerOnNewSessionAsync(async () => await open(), message, failure);
        }

        return true;
    }

    public ValueTask DisposeAsync() => ValueTask.CompletedTask;
}
