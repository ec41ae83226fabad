using Kit.Endpoints.Bare.PostgreSql.Queues;
using Kit.Endpoints.Bare.Tables;
using Npgsql;

namespace Kit.Endpoints.Bare.PostgreSql.Modes;

/// <summary>
/// <c>shared</c>: receive, insert and sends in one local transaction, on the connection that received the message. A savepoint separates the
/// handler's work from the receive, so that the transaction that rolls the handler's work back can also count the failure.
/// </summary>
internal sealed class SharedReceiver(QueueSession queue, MessagePipeline pipeline, Recoverability recoverability) : IReceiver
{
    public async Task<bool?> ReceiveAsync(CancellationToken cancellationToken)
    {
        // The driver reuses this transaction object for the next user of the physical connection, and the handler could close that. After the
        // handler has run, the object is used only if the savepoint has shown that the transaction is still the same.
        var receive = await queue.BeginReceiveAsync();
        if (await queue.ReceiveAsync() is not { } message)
        {
            await receive.RollbackAsync(CancellationToken.None);
            return false;
        }

        await receive.SaveAsync(QueueSession.BeforeHandler, CancellationToken.None);
        try
        {
            var sends = await LentWork.RunAsync(pipeline, message, queue.Connection, receive, cancellationToken);
            await queue.CommitAsync(receive, sends);
        }
        catch (Exception failure) when (!cancellationToken.IsCancellationRequested)
        {
            await AnswerAsync(receive, message, failure);
        }

        await queue.EndLendingAsync();
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
        catch (Exception lost) when (
            lost is NpgsqlOperationInProgressException || !queue.IsOpen || FailureKinds.OfPostgreSql.Of(lost) is FailureKind.SessionLost)
        {
            // The server ended the session, or the handler closed the connection, or left a reader open on it.
            throw new AttemptLostException(message, failure);
        }

        if (isReceiveOpen)
            await recoverability.AnswerAsync(queue, receive, message, failure);
        else if (!await recoverability.AnswerAfterRollbackAsync(queue, message, failure))
            recoverability.ReportEnded(message, failure);
    }
}
