using System.Data.Common;
using Kit.Modes;

namespace Kit.Endpoints.Bare;

/// <summary>
/// The handler's ambient transaction, in which the driver enlists the lent connection. For drivers such as SqlClient, which require the local
/// transaction to be set on each command: the kit's handlers know of none.
/// </summary>
/// <param name="data">Its connections enlist, and refuse statements after the transaction has ended.</param>
/// <param name="settings">The settings of the ambient transaction.</param>
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
