using System.Data.Common;
using Kit.Modes;

namespace Kit.Endpoints.Bare;

/// <summary>
/// The handler's ambient transaction, which the driver enlists the lent connection in. For drivers that want a local transaction named on each
/// command, as SqlClient does: a handler of the kit knows none.
/// </summary>
/// <param name="data">Enlists by itself, and refuses statements when the transaction is over.</param>
/// <param name="settings">Of the ambient transaction.</param>
internal sealed class EnlistingScope(DbDataSource data, TransactionSettings settings) : IHandlerScope
{
    public async Task<IReadOnlyCollection<OutgoingMessage>> RunAsync(MessagePipeline pipeline, ReceivedMessage message, CancellationToken cancellationToken)
    {
        using var scope = AmbientTransaction.Begin(settings);
        var sends = await BufferedWork.RunAsync(pipeline, message, data, cancellationToken);
        scope.Complete();
        return sends;
    }
}
