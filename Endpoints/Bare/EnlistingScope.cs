using System.Data.Common;

namespace Kit.Endpoints.Bare;

/// <summary>
/// The handler's ambient transaction, which the driver enlists the lent connection in. For drivers that want a local transaction named on each
/// command, as SqlClient does: a handler of the kit knows none.
/// </summary>
/// <param name="data">Enlists by itself, and refuses statements when the transaction is over.</param>
/// <param name="timeout">Of the ambient transaction.</param>
internal sealed class EnlistingScope(DbDataSource data, TimeSpan timeout) : IHandlerScope
{
    public async Task<IReadOnlyCollection<OutgoingMessage>> RunAsync(MessagePipeline pipeline, ReceivedMessage message, CancellationToken cancellationToken)
    {
        using var scope = AmbientTransaction.Begin(timeout);
        var sends = await BufferedWork.RunAsync(pipeline, message, data, cancellationToken);
        scope.Complete();
        return sends;
    }
}
