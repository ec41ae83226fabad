namespace Kit.Handlers;

/// <summary>The handler of every cell. It neither commits nor knows the mode, the transport or the framework.</summary>
public sealed class WidgetBuilder(IWidgetInsert insert)
{
    public async Task BuildAsync(BuildWidget message, IConnections connections, CancellationToken cancellationToken)
    {
        var connection = await connections.GetAsync(cancellationToken);
        var transaction = await connections.GetTransactionAsync(cancellationToken);
        await insert.InsertAsync(connection, transaction, new Widget(WidgetId.Next(), message.MessageId), cancellationToken);
    }
}
