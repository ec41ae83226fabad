using System.Data;
using Microsoft.Data.SqlClient;

namespace Kit.Endpoints.Bare.SqlServer;

/// <summary>Statements that write messages. Parameters have fixed sizes, so that the server uses one plan for values of every length.</summary>
internal static class MessageCommands
{
    /// <summary>Sends a message, or publishes it.</summary>
    /// <param name="message">The message.</param>
    /// <param name="isEnlisted">Only in a transaction, which the session has joined.</param>
    public static SqlCommand Send(OutgoingMessage message, bool isEnlisted = false)
    {
        var headers = MessageHeaders.Write(message.Headers);
        var send = message.IsEvent ? SubscriptionStatements.Publish : QueueStatements.Send(message.Queue, hasHeaders: headers is not null);
        var command = new SqlCommand(isEnlisted ? QueueStatements.RequireTransaction + send : send);
        command.Add(message.MessageId, message.Type, message.Body);
        if (headers is not null || message.IsEvent)
            command.AddHeaders(headers);

        return command;
    }

    public static void Add(this SqlCommand command, Guid messageId, string type, byte[] body)
    {
        command.Add("@message_id", SqlDbType.UniqueIdentifier, 0, messageId);
        command.Add("@type", SqlDbType.NVarChar, 400, type);
        command.Add("@body", SqlDbType.VarBinary, -1, body);
    }

    public static void AddHeaders(this SqlCommand command, string? headers) => command.Add("@headers", SqlDbType.NVarChar, -1, headers);

    public static void Add(this SqlCommand command, string name, SqlDbType type, int size, object? value) =>
        command.Parameters.Add(new SqlParameter(name, type, size) { Value = value ?? DBNull.Value });
}
