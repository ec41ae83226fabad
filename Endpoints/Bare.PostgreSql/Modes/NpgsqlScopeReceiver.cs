using Kit.Endpoints.Bare.PostgreSql.Queues;
using Kit.Endpoints.Bare.Tables;
using Kit.Modes;
using Npgsql;

namespace Kit.Endpoints.Bare.PostgreSql.Modes;

/// <summary>
/// <c>npgsql-scope</c>: receive, insert and sends on two connections, which the driver enlists in one TransactionScope and commits in two
/// phases. The driver recovers nothing after a crash. The mode exists for comparison with <c>full-dtc</c>.
/// </summary>
internal sealed class NpgsqlScopeReceiver(
    Func<Task<QueueSession>> open, NpgsqlDataSource data, TransactionSettings settings,
    MessagePipeline pipeline, Recoverability recoverability) : IReceiver
{
    public async Task<bool?> ReceiveAsync(CancellationToken cancellationToken)
    {
        QueuedMessage? message = null;
        try
        {
            using var scope = AmbientTransaction.Begin(settings);
            await using (var queue = await open())
            {
                message = await queue.ReceiveAsync();
                if (message is null)
                    return false;

                var sends = await BufferedWork.RunAsync(pipeline, message, data, cancellationToken);
                await queue.SendAsync(sends);
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
