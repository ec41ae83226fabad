using System.Text.Json;

namespace Kit.Endpoints.Bare;

/// <summary>A message on its way into a queue: its JSON body and the name of its type.</summary>
public sealed record OutgoingMessage(string Queue, Guid MessageId, string Type, byte[] Body)
{
    /// <param name="queue">The queue that receives it.</param>
    /// <param name="message">Serialized as JSON.</param>
    /// <param name="messageId">A new one when not given.</param>
    public static OutgoingMessage Create<TMessage>(string queue, TMessage message, Guid? messageId = null)
        where TMessage : notnull =>
        new(queue, messageId ?? Guid.CreateVersion7(), TypeName(message.GetType()), JsonSerializer.SerializeToUtf8Bytes(message, message.GetType()));

    internal static string TypeName(Type type) => type.FullName ?? type.Name;
}
