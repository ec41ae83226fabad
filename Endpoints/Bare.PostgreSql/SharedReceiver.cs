using Kit.Endpoints.Bare.Tables;
using Npgsql;

namespace Kit.Endpoints.Bare.PostgreSql;

/// <summary>
/// <c>shared</c>: receive, insert and sends in one local transaction, on the one connection that received the message. A savepoint separates the
/// handler's work from the receive, so that a failure is counted in the transaction that rolls its work back.
/// </summary>
internal sealed class SharedReceiver(QueueSession queue, MessagePipeline pipeline, Recoverability recoverability) : IReceiver
{
    public async Task<bool?> ReceiveAsync(CancellationToken cancellationToken)
    {
        // The driver gives the same transaction object to whoever has the physical connection next, and the handler could close it: once the
        // handler has run, the object is used only where the savepoint has shown that the transaction is still this one.
        var receive = await queue.BeginAsync();
        if (await queue.ReceiveAsync() is not { } message)
        {
            await receive.RollbackAsync(CancellationToken.None);
            return false;
        }

        await receive.SaveAsync(QueueSession.BeforeHandler, CancellationToken.None);
        try
        {
            var sends = await LentWork.RunAsync(pipeline, message, queue.Connection, receive, cancellationToken);
            await queue.CommitAsync(sends);
        }
        catch (Exception failure) when (!cancellationToken.IsCancellationRequested)
        {
            await AnswerAsync(receive, message, failure);
        }

        return true;
    }

    public ValueTask DisposeAsync() => queue.DisposeAsync();

    private async Task AnswerAsync(NpgsqlTransaction receive, QueuedMessage message, Exception failure)
    {
        bool isReceiveOpen;
        try
        {
            isReceiveOpen = await queue.TryRollbackHandlerAsync();
        }
        catch (Exception lost) when (!queue.IsOpen || FailureKinds.Of(lost) is FailureKind.SessionLost)
        {
            // The server ended the session, or the handler closed the connection.
            throw new AttemptLostException(message, failure);
        }

        if (isReceiveOpen)
            await recoverability.AnswerAsync(queue, receive, message, failure);
        else
            await recoverability.AnswerAfterRollbackAsync(queue, message, failure);
    }
}
