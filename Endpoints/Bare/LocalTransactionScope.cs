using Kit.Modes;
using Npgsql;

namespace Kit.Endpoints.Bare;

/// <summary>
/// The handler's ambient transaction, and with it the kit's own local transaction on the connection that the handler is lent.
/// </summary>
/// <remarks>
/// The driver's enlistment does not suffice. If the ambient transaction times out while the handler runs, the driver rolls back and un-enlists,
/// and the handler's next statement autocommits. If PostgreSQL answers the commit of a failed transaction with a roll-back, the driver reports
/// success (npgsql issue 6641).
/// </remarks>
/// <param name="data">Must not enlist (<c>Enlist=false</c>).</param>
/// <param name="settings">The settings of both transactions.</param>
internal sealed class LocalTransactionScope(NpgsqlDataSource data, TransactionSettings settings) : IHandlerScope
{
    /// <inheritdoc cref="LocalTransaction.CommitAsync" path="/param[@name='isFlushed']"/>
    public bool IsFlushed { get; init; }

    public async Task<IReadOnlyCollection<OutgoingMessage>> RunAsync(MessagePipeline pipeline, ReceivedMessage message, CancellationToken cancellationToken)
    {
        await using var work = new LocalTransactionWork(data, settings.Isolation) { IsFlushed = IsFlushed };
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
