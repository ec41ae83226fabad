using System.Data;

namespace Kit.Handlers;

/// <summary>Looks a row up by its id and replies with it. The reply has the id of its request.</summary>
public static class WidgetLookup
{
    public static async Task AnswerAsync(BuildWidget message, IMessageContext context, CancellationToken cancellationToken) => await context.ReplyAsync(
        new WidgetBuilt(message.MessageId) { Document = ReplyWith(await FindAsync(message, context, cancellationToken)) },
        cancellationToken);

    /// <summary>The row that a message asks for.</summary>
    /// <exception cref="InvalidOperationException">It asks for none, or there is none.</exception>
    internal static async Task<Widget> FindAsync(BuildWidget message, IConnections connections, CancellationToken cancellationToken)
    {
        var id = message.Row ?? throw new InvalidOperationException(
            $"Expected the id of a row in message {message.MessageId}, and it has none. Send messages that the round makes.");
        var connection = await connections.GetAsync(cancellationToken);
        await using var command = connection.CreateCommand();
        command.CommandText = "SELECT message_id FROM widget WHERE id = @id";
        command.AddParameter("id", DbType.Int64, id);
        return await command.ExecuteScalarAsync(cancellationToken) is Guid found
            ? new Widget(id, found)
            : throw new InvalidOperationException(
                $"Expected a widget with the id {id} for message {message.MessageId}, and the table has none. Ask for rows that were seeded.");
    }

    /// <summary>The reply that has found a row.</summary>
    public static string ReplyWith(Widget found) => $"<widget id=\"{found.Id}\" message-id=\"{found.MessageId}\" />";
}
