using Kit.Modes;
using Npgsql;

namespace Kit.Endpoints.Bare;

/// <summary>
/// The handler's ambient transaction, and behind it a local transaction of the kit's own on the connection that the handler is lent.
/// </summary>
/// <remarks>
/// The driver's enlistment would not do. When the ambient transaction times out while the handler still works, the driver rolls back and un-enlists,
/// and the next statement of the handler commits by itself. And it takes the roll-back that answers a failed transaction's commit for success
/// (npgsql issue 6641).
/// </remarks>
/// <param name="data">Must not enlist by itself (<c>Enlist=false</c>).</param>
/// <param name="settings">Of both transactions.</param>
internal sealed class LocalTransactionScope(NpgsqlDataSource data, TransactionSettings settings) : IHandlerScope
{
    public async Task<IReadOnlyCollection<OutgoingMessage>> RunAsync(MessagePipeline pipeline, ReceivedMessage message, CancellationToken cancellationToken)
    {
        await using var work = new LocalTransactionWork(data, settings.Isolation);
        using var transaction = AmbientTransaction.Create(settings);
        work.EnlistIn(transaction);
        using (var scope = AmbientTransaction.Enter(transaction))
        {
            await pipeline.HandleAsync(message, work, cancellationToken);
            scope.Complete();
        }

        await transaction.CommitAsync();
        return work.Sends;
    }
}
