using Kit.Endpoints.Bare.Tables;
using Kit.Modes;
using Npgsql;

namespace Kit.Endpoints.Bare.PostgreSql;

/// <summary>
/// <c>npgsql-scope</c>: receive, insert and sends on two connections that the driver itself enlists in one TransactionScope and commits
/// in two phases. The driver recovers nothing after a crash; it is here to be compared with <c>full-dtc</c>.
/// </summary>
internal sealed class NpgsqlScopeReceiver(
    NpgsqlDataSource queues, QueueStatements statements, NpgsqlDataSource data, TransactionSettings settings, MessagePipeline pipeline,
    Recoverability recoverability) : IReceiver
{
    public async Task<bool?> ReceiveAsync(CancellationToken cancellationToken)
    {
        QueuedMessage? message = null;
        try
        {
            using var scope = AmbientTransaction.Begin(settings);
            await using (var queue = await OpenAsync(cancellationToken))
            {
                message = await queue.ReceiveAsync();
                if (message is null)
                    return false;

                await queue.SendAsync(await BufferedWork.RunAsync(pipeline, message, data, cancellationToken));
            }

            scope.Complete();
        }
        catch (Exception failure) when (message is not null && !cancellationToken.IsCancellationRequested)
        {
            await recoverability.AnswerOnNewSessionAsync(async () => await OpenAsync(cancellationToken), message, failure);
        }

        return true;
    }

    public ValueTask DisposeAsync() => ValueTask.CompletedTask;

    private Task<QueueSession> OpenAsync(CancellationToken cancellationToken) =>
        QueueSession.OpenAsync(queues, statements, settings.Isolation, withTransactionId: false, cancellationToken);
}
